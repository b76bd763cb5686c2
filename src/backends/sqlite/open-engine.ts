import { type TimeReading, timeNow } from '../../core/clock.ts'
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
import { MovingTimes } from './moving-times.ts'
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
  const movingTimes = new MovingTimes(connection)
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
    send: (flat: FlatEnvelopes, time: TimeReading) => linking.send(flat, timeNow(time)),
    get: (id: string) => looking.get(id),
    amend: (amendments: FlatAmendments, time: TimeReading) => amending.amend(amendments, timeNow(time)),
    reject: (rejections: readonly Rejection[], time: TimeReading) => amending.reject(rejections, timeNow(time)),
  }
  const completing = new Completing(connection, settling, within)

  return {
    send: (flat, time) => write(() => within.send(flat, time)),
    sendUnsynced: (flat, time) => writeSoon(() => within.send(flat, time)),
    lease(request, claim, time) {
      const askedAt = timeNow(time)
      const outlook = connection.read(() => claiming.outlook(request.owner))
      const isDue = outlook.nextAt !== null && outlook.nextAt <= askedAt
      const { open, nextTokenAt } = connection.read(() => claiming.look(request, askedAt))
      // An idle poll ends here, without the write lock: also one that finds nothing but what a limit keeps waiting.
      if (!isDue && open.length === 0) {
        connection.checkFile()
        return { claim, rows: '[]', lanes: [], expiresAt: askedAt, ...outlook, nextAt: earlier(outlook.nextAt, nextTokenAt) }
      }
      return writeSoon(() => {
        const now = timeNow(time)
        const expiresAt = now + request.leaseMs
        if (!isDue) {
          const claimed = claiming.claim(request, open, claim, now)
          const nextAt = earlier(earlier(outlook.nextAt, expiresAt), claimed.nextTokenAt)
          return { claim, expiresAt, ...claimed, ...outlook, nextAt }
        }
        rescuing.rescue(request.maxRescues, now)
        endings.giveUp(now, mostImpatient)
        const claimed = promoteAndClaim(request, claim, now)
        const after = claiming.outlook(request.owner)
        return { claim, expiresAt, ...claimed, ...after, nextAt: earlier(after.nextAt, claimed.nextTokenAt) }
      })
    },
    settle: (settlements, time) => write(() => settling.settle(settlements, timeNow(time))),
    complete: (token, work, time) => completing.complete(token, work, time, write),
    end: (settlement, time) => completing.end(settlement, time, write),
    begin: (tokens) => write(() => settling.begin(tokens)),
    extend: (tokens, leaseMs, alone, time) => writeSoon(() => settling.extend(tokens, timeNow(time) + leaseMs, alone)),
    keepLeases: (request, standstill) => writeSoon(() => keeping.keep(request, standstill)),
    moveTimes(jump) {
      write(() => movingTimes.move(jump))
      forget()
    },
    reap: (maxRescues, deadOwners, time) => write(() => rescuing.reap(maxRescues, deadOwners, timeNow(time))),
    claimOnce: (key, jobId, time) => write(() => once.claim(key, jobId, timeNow(time))),
    sweepKeys: (limit, time) => write(() => once.sweep(timeNow(time), limit) + uniqueKeys.sweep(timeNow(time), limit)),
    // Whoever holds a lock on this file ends with the power too.
    lock: (name, holder, ttlMs, time) => writeSoon(() => locks.lock(name, holder, ttlMs, timeNow(time))),
    unlock: (name, owner, time) => writeSoon(() => locks.unlock(name, owner, timeNow(time))),
    get: (id) => read(() => within.get(id)),
    list: (filter) => read(() => looking.list(filter)),
    counts: () => read(() => looking.counts()),
    leases: (owners) => read(() => looking.leases(owners)),
    leasesOf: (ids) => read(() => looking.leasesOf(ids)),
    cancel: (id, time) => write(() => changing.cancel(id, timeNow(time))),
    reschedule: (id, runAt, time) => write(() => changing.reschedule(id, runAt, timeNow(time))),
    amend: (amendments, time) => write(() => within.amend(amendments, time)),
    reject: (rejections, time) => write(() => within.reject(rejections, time)),
    retry: (ids, time) => write(() => changing.retry(ids, timeNow(time))),
    remove: (filter) => write(() => looking.remove(filter)),
    links: (id) => read(() => trees.links(id)),
    tree: (root) => read(() => trees.counts(root)),
    cancelTree: (id, time) => write(() => changing.cancelTree(id, timeNow(time))),
    mend(limit, time) {
      const { looked, seqs } = read(() => mending.look(limit))
      return { looked, mended: seqs.length === 0 ? 0 : write(() => mending.mend(seqs, timeNow(time))) }
    },
    report: (reports) => writeSoon(() => changing.report(reports)),
    pause: (queue) => write(() => changing.pause(queue)),
    resume: (queue) => write(() => changing.resume(queue)),
    pausedQueues: () => read(() => changing.pausedQueues()),
    holds: (id, rules, time) => read(() => holding.holds(id, rules, timeNow(time))),
    registerSchedules: (entries, time) => write(() => recurring.register(entries, timeNow(time))),
    enqueueOccurrences: (wanted, time) => write(() => occurrences.enqueue(wanted, timeNow(time))),
    findOccurrences: (keys) => read(() => occurrences.find(keys)),
    recentOccurrences: (schedule, upTo, limit) => read(() => occurrences.recent(schedule, upTo, limit)),
    neighbours: (key, time) => read(() => unended.neighbours(key, timeNow(time))),
    // Where a power cut takes it back, nobody was there.
    markSeen: (keys, time) => writeSoon(() => unended.markSeen(keys, timeNow(time))),
    skipWaiting: (request, time) => write(() => unended.skipWaiting(request, timeNow(time))),
    standings: (names) => read(() => recurring.standings(names)),
    scheduleRevision: () => read(() => recurring.revision()),
    pauseSchedule: (name, time) => write(() => recurring.pause(name, timeNow(time))),
    resumeSchedule: (name, time) => write(() => recurring.resume(name, timeNow(time))),
    removeSchedule: (name, time) => write(() => recurring.remove(name, timeNow(time))),
    listSchedules: (time) => read(() => recurring.list(timeNow(time))),
    forgetOccurrences: (before, limit) => write(() => occurrences.forget(before, limit)),
    // Written every few seconds by each worker, and worth nothing after a power cut.
    announceWorker: (worker, ttlMs, time) => writeSoon(() => workers.announce(worker, ttlMs, timeNow(time))),
    workerLeaves: (owner) => writeSoon(() => workers.leave(owner)),
    listWorkers: (time) => read(() => workers.list(timeNow(time))),
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
