import type { Rejection } from '../store.ts'
import { Addresses } from './addresses.ts'
import { Again } from './again.ts'
import { Amending, type FlatAmendments } from './amending.ts'
import { Changing } from './changing.ts'
import { type ClaimedRows, Claiming, type FlatRequest } from './claiming.ts'
import { Completing } from './completing.ts'
import { Connection } from './connection.ts'
import type { SqliteDatabase, SqliteDriver } from './driver.ts'
import { Edges } from './edges.ts'
import { Endings } from './endings.ts'
import type { EngineOptions, LocalEngine } from './engine.ts'
import type { FlatEnvelopes } from './flat-envelopes.ts'
import { Holding } from './holding.ts'
import { Keeping } from './keeping.ts'
import { Lanes } from './lanes.ts'
import { LinkedSettling } from './linked-settling.ts'
import { Linking } from './linking.ts'
import { Locks } from './locks.ts'
import { Looking } from './looking.ts'
import { Mending } from './mending.ts'
import { checkSchema, migrate } from './migrating.ts'
import { Numbers } from './numbers.ts'
import { Occurrences } from './occurrences.ts'
import { Once } from './once.ts'
import { OnceMarks } from './once-marks.ts'
import { Outcomes } from './outcomes.ts'
import { earlier } from './picking.ts'
import { Rates } from './rates.ts'
import { Recurring } from './recurring.ts'
import { Rescuing } from './rescuing.ts'
import { Sending } from './sending.ts'
import { Settling } from './settling.ts'
import { Stamps } from './stamps.ts'
import { Trees } from './trees.ts'
import { Unended } from './unended.ts'
import { UniqueKeys } from './unique-keys.ts'
import { Waiters } from './waiters.ts'
import { Workers } from './workers.ts'

export function openEngine(Driver: SqliteDriver, options: EngineOptions): LocalEngine {
  const connection = Connection.open(Driver, options)
  try {
    checkSchema(connection, options.path, options.migrate)
    connection.makeDurable()
    migrate(connection, options.path)
    connection.setBusyMs(options.busyMs)
    connection.watchFile(options.identity)
    return engineOn(connection)
  } catch (thrown) {
    connection.close()
    throw thrown
  }
}

/** On a connection of the caller, to be used while that is in a transaction. */
export function joiningEngine(database: SqliteDatabase, path: string): LocalEngine {
  const connection = Connection.joining(database, path)
  checkSchema(connection, path, false)
  return engineOn(connection)
}

const mostPromotionRounds = 50
/** Groups that come back may all be out of tokens still. Those that are left are due, and the next claim is for them. */
const mostReleaseRounds = 2
/** So many jobs that have waited for too long are ended by one claim. */
const mostImpatient = 1_000

function engineOn(connection: Connection): LocalEngine {
  const lanes = new Lanes(connection)
  const addresses = new Addresses(connection)
  const uniqueKeys = new UniqueKeys(connection)
  const numbers = new Numbers(connection, addresses)
  const stamps = new Stamps(connection)
  const sending = new Sending(connection, { lanes, stamps, addresses, uniqueKeys, numbers })
  const rates = new Rates(connection)
  const claiming = new Claiming(connection, lanes, rates)
  const holding = new Holding(connection, { lanes, addresses, rates })
  const outcomes = new Outcomes(connection, lanes)
  const onceMarks = new OnceMarks(connection)
  const edges = new Edges(connection)
  const waiters = new Waiters(connection, lanes)
  const trees = new Trees(connection, edges, addresses)
  const endings = new Endings(connection, { lanes, outcomes, uniqueKeys, edges, waiters, trees, onceMarks })
  const mending = new Mending({ edges, waiters, endings })
  const linking = new Linking(connection, { addresses, sending, edges, waiters, endings })
  const linked = new LinkedSettling(connection, { lanes, endings, waiters, onceMarks })
  const again = new Again(connection, lanes, endings)
  const settling = new Settling(connection, { lanes, endings, linked, again, onceMarks })
  const rescuing = new Rescuing(connection, lanes, endings)
  const keeping = new Keeping(connection)
  const looking = new Looking(connection, lanes, addresses, trees)
  const changing = new Changing(connection, { lanes, addresses, outcomes, uniqueKeys, endings, mending, trees })
  const amending = new Amending(connection, { lanes, addresses, endings })
  const once = new Once(connection, addresses)
  const locks = new Locks(connection)
  const workers = new Workers(connection)
  const occurrences = new Occurrences(connection, { lanes, sending, uniqueKeys, endings })
  const unended = new Unended(connection, { lanes, addresses, endings })
  const recurring = new Recurring(connection, occurrences, unended)

  function counted<Answer>(work: () => Answer): () => Answer {
    return () => {
      const answer = work()
      lanes.writeCounts()
      return answer
    }
  }
  function forget(): void {
    lanes.forget()
    stamps.forget()
    endings.forget()
  }
  function forgetting<Answer>(transaction: () => Answer): Answer {
    try {
      return transaction()
    } catch (thrown) {
      forget()
      throw thrown
    }
  }
  const write = <Answer>(work: () => Answer): Answer => forgetting(() => connection.transaction(counted(work)))
  // A claim, a renewal or a progress that a power cut undoes is one that never was: the job is still there, to be claimed again.
  const writeSoon = <Answer>(work: () => Answer): Answer => forgetting(() => connection.relaxedTransaction(counted(work)))
  /** What falls due together may be others' by the thousands before it is this worker's. */
  function promoteAndClaim(request: FlatRequest, claim: string, now: number): ClaimedRows {
    for (let round = 1; ; round++) {
      const arePromoted = settling.promote(now)
      // A group is put back where it has ready jobs, those that have just become so included.
      lanes.writeCounts()
      const areReleased = lanes.groups.release(now) || round >= mostReleaseRounds
      const isAll = areReleased && arePromoted
      const claimed = claiming.claim(request, claiming.open(request), claim, now)
      if (isAll || claimed.lanes.length > 0 || request.limit === 0 || round === mostPromotionRounds) return claimed
    }
  }
  const read = <Answer>(work: () => Answer): Answer => connection.readChecked(work)
  const within = {
    send: (flat: FlatEnvelopes, now: number) => linking.send(flat, now),
    get: (id: string) => looking.get(id),
    amend: (amendments: FlatAmendments, now: number) => amending.amend(amendments, now),
    reject: (rejections: readonly Rejection[], now: number) => amending.reject(rejections, now),
  }
  const completing = new Completing(connection, settling, within)

  return {
    send: (flat, now) => write(() => within.send(flat, now)),
    sendUnsynced: (flat, now) => writeSoon(() => within.send(flat, now)),
    lease(request, claim, now) {
      const outlook = connection.read(() => claiming.outlook(request.owner))
      const isDue = outlook.nextAt !== null && outlook.nextAt <= now
      const { open, nextTokenAt } = connection.read(() => claiming.look(request, now))
      // An idle poll ends here, without the write lock: also one that finds nothing but what a limit keeps waiting.
      if (!isDue && open.length === 0) {
        connection.checkFile()
        return { claim, rows: '[]', lanes: [], ...outlook, nextAt: earlier(outlook.nextAt, nextTokenAt) }
      }
      return writeSoon(() => {
        if (!isDue) {
          const claimed = claiming.claim(request, open, claim, now)
          const nextAt = earlier(earlier(outlook.nextAt, now + request.leaseMs), claimed.nextTokenAt)
          return { claim, ...claimed, ...outlook, nextAt }
        }
        rescuing.rescue(request.maxRescues, now)
        endings.giveUp(now, mostImpatient)
        const claimed = promoteAndClaim(request, claim, now)
        const after = claiming.outlook(request.owner)
        return { claim, ...claimed, ...after, nextAt: earlier(after.nextAt, claimed.nextTokenAt) }
      })
    },
    settle: (settlements, now) => write(() => settling.settle(settlements, now)),
    complete: (token, work, now) => completing.complete(token, work, now, write),
    end: (settlement, now) => completing.end(settlement, now, write),
    begin: (tokens) => write(() => settling.begin(tokens)),
    extend: (tokens, until) => writeSoon(() => settling.extend(tokens, until)),
    keepLeases: (request, standstill) => writeSoon(() => keeping.keep(request, standstill)),
    reap: (maxRescues, deadOwners, now) => write(() => rescuing.reap(maxRescues, deadOwners, now)),
    claimOnce: (key, jobId, now) => write(() => once.claim(key, jobId, now)),
    sweepKeys: (limit, now) => write(() => once.sweep(now, limit) + uniqueKeys.sweep(now, limit)),
    // Whoever holds a lock on this file ends with the power too.
    lock: (name, holder, ttlMs, now) => writeSoon(() => locks.lock(name, holder, ttlMs, now)),
    unlock: (name, owner, now) => writeSoon(() => locks.unlock(name, owner, now)),
    get: (id) => read(() => within.get(id)),
    list: (filter) => read(() => looking.list(filter)),
    counts: () => read(() => looking.counts()),
    leases: (owners) => read(() => looking.leases(owners)),
    leasesOf: (ids) => read(() => looking.leasesOf(ids)),
    cancel: (id, now) => write(() => changing.cancel(id, now)),
    reschedule: (id, runAt, now) => write(() => changing.reschedule(id, runAt, now)),
    amend: (amendments, now) => write(() => within.amend(amendments, now)),
    reject: (rejections, now) => write(() => within.reject(rejections, now)),
    retry: (ids, now) => write(() => changing.retry(ids, now)),
    remove: (filter) => write(() => looking.remove(filter)),
    links: (id) => read(() => trees.links(id)),
    tree: (root) => read(() => trees.counts(root)),
    cancelTree: (id, now) => write(() => changing.cancelTree(id, now)),
    mend(limit, now) {
      const { looked, seqs } = read(() => mending.look(limit))
      return { looked, mended: seqs.length === 0 ? 0 : write(() => mending.mend(seqs, now)) }
    },
    report: (reports) => writeSoon(() => changing.report(reports)),
    pause: (queue) => write(() => changing.pause(queue)),
    resume: (queue) => write(() => changing.resume(queue)),
    pausedQueues: () => read(() => changing.pausedQueues()),
    holds: (id, rules, now) => read(() => holding.holds(id, rules, now)),
    registerSchedules: (entries, now) => write(() => recurring.register(entries, now)),
    enqueueOccurrences: (wanted, now) => write(() => occurrences.enqueue(wanted, now)),
    findOccurrences: (keys) => read(() => occurrences.find(keys)),
    recentOccurrences: (schedule, upTo, limit) => read(() => occurrences.recent(schedule, upTo, limit)),
    neighbours: (key, now) => read(() => unended.neighbours(key, now)),
    skipWaiting: (request, now) => write(() => unended.skipWaiting(request, now)),
    standings: (names) => read(() => recurring.standings(names)),
    scheduleRevision: () => read(() => recurring.revision()),
    pauseSchedule: (name, now) => write(() => recurring.pause(name, now)),
    resumeSchedule: (name, now) => write(() => recurring.resume(name, now)),
    removeSchedule: (name, now) => write(() => recurring.remove(name, now)),
    listSchedules: (now) => read(() => recurring.list(now)),
    forgetOccurrences: (before, limit) => write(() => occurrences.forget(before, limit)),
    // Written every few seconds by each worker, and worth nothing after a power cut.
    announceWorker: (worker, ttlMs, now) => writeSoon(() => workers.announce(worker, ttlMs, now)),
    workerLeaves: (owner) => writeSoon(() => workers.leave(owner)),
    listWorkers: (now) => read(() => workers.list(now)),
    reserveNumbers: (count) => write(() => numbers.reserve(count)),
    assignNumbers: (ids) => write(() => numbers.assign(ids)),
    findNumbers: (wanted) => read(() => numbers.find(wanted)),
    stampTexts: (wanted) => read(() => stamps.textsOf(wanted)),
    emptyLog: () => connection.emptyLog(),
    setPatience: (ms) => connection.setBusyMs(ms),
    get file() {
      return connection.file
    },
    get identity() {
      return connection.identity
    },
    checkFile: () => connection.checkFile(),
    forget,
    close: () => connection.close(),
  }
}
