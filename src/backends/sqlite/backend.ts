import { type Clock, nextTurn, readTime } from '../../core/clock.ts'
import { randomToken } from '../../core/id.ts'
import type { Logger } from '../../core/logger.ts'
import { ClaimableMemo } from '../claimable.ts'
import type { Coordination, QueueBackend, SettleReceipt } from '../contract.ts'
import type { ScheduleStore } from '../schedule-store.ts'
import type { JobStore } from '../store.ts'
import { Access } from './access.ts'
import { flattenAmendments } from './amending.ts'
import { ClaimReader } from './claim-reader.ts'
import type { Engine } from './engine.ts'
import { flatten } from './flat-envelopes.ts'
import { flattenJobs } from './flat-rules.ts'
import { receiptsOf } from './joined-file.ts'
import { Joining } from './joining.ts'
import { LogSync } from './log-sync.ts'
import { flattenOccurrences } from './occurrences.ts'
import { flattenSettlements } from './plainly-done.ts'
import { heldLeaseOf, recordOf } from './record.ts'
import { readOccurrences, readSchedules, readStandings } from './schedule-record.ts'
import { openSqliteUpkeep } from './upkeep.ts'
import { WakeFile } from './wake-file.ts'

export interface SqliteOptions {
  readonly path: string
  readonly clock: Clock
  readonly logger: Logger
  /** False refuses a file whose schema is older than this version's. */
  readonly migrate?: boolean
}

/** Opens the file (makes it where there is none) and checks its schema. */
export async function openSqlite({ path, clock, logger, migrate = true }: SqliteOptions): Promise<QueueBackend> {
  const access = await Access.open({ path, clock, logger, migrate })
  const wakeFile = new WakeFile(`${path}.wake`)
  const joining = new Joining({ path, clock, wake: () => wakeFile.touch(), checkFile: () => access.checkFile() })
  return { ...sqliteBackend(access, wakeFile, joining, clock), upkeep: await openSqliteUpkeep(path) }
}

/** More than this many envelopes are not worth blocking the event loop for. */
const inlineEnvelopes = 128
/** Nor more than this many leases. */
const inlineLeases = 16

function sqliteBackend(access: Access, wakeFile: WakeFile, joining: Joining, clock: Clock): QueueBackend {
  let foundNothing = false
  const claimable = new ClaimableMemo(flattenJobs)
  const logSync = new LogSync(access.file, () => access.callInline('emptyLog', []))
  const reader = new ClaimReader((stamps) => access.callInline('stampTexts', [stamps]))
  const coordination: Coordination = {
    claimOnce: (key, jobId) => access.call('claimOnce', [key, jobId, readTime(clock)]),
    sweepKeys: (limit) => access.call('sweepKeys', [limit, readTime(clock)]),
    lock: (name, holder, ttlMs) => access.callInline('lock', [name, holder, ttlMs, readTime(clock)]),
    unlock: (name, owner) => access.callInline('unlock', [name, owner, readTime(clock)]),
  }
  return {
    kind: 'sqlite',
    store: jobStore(access, wakeFile, clock),
    coordination,
    transactions: {
      async complete(token, work) {
        const { others, released } = await access.callHere((engine) => engine.complete(token, work, readTime(clock)))
        if (released) wakeFile.touch()
        return others[0]?.[1] ?? 'applied'
      },
      join(tx) {
        access.refuseClosed()
        return joining.join(tx)
      },
    },
    async send(envelopes) {
      const args: Parameters<Engine['send']> = [flatten(envelopes), readTime(clock)]
      const isSmall = envelopes.length <= inlineEnvelopes
      // A worker of this program that idles begins while the disk is still writing; who sends waits for it.
      const isAwaited = isSmall && foundNothing && wakeFile.isHeard
      const taken = await (isSmall ? access.callInline(isAwaited ? 'sendUnsynced' : 'send', args) : access.call('send', args))
      wakeFile.wakeHere()
      // It has claimed what is for it when the others are told.
      if (isAwaited) await nextTurn()
      wakeFile.wakeOthers()
      // So does who is told of a job that was there already: it may have been sent a moment ago.
      if (isAwaited || taken.length > 0) await logSync.sync()
      return receiptsOf(envelopes, taken)
    },
    async lease(request) {
      const args: Parameters<Engine['lease']> = [{ ...request, jobs: claimable.of(request.jobs) }, randomToken(), readTime(clock)]
      // What wakes an idle worker is most often one job, and the first to arrive is the one that somebody waits for.
      const small = foundNothing && request.limit <= inlineLeases
      const claimed = await (small ? access.callInline('lease', args) : access.call('lease', args))
      const batch = await reader.read(claimed)
      foundNothing = batch.leases.length === 0
      return batch
    },
    async settle(settlements) {
      const receipts = new Array<SettleReceipt>(settlements.length).fill('applied')
      const { others, released } = await access.call('settle', [flattenSettlements(settlements), readTime(clock)])
      for (const [index, receipt] of others) receipts[index] = receipt
      if (released) wakeFile.touch()
      return receipts
    },
    begin: (tokens) => access.call('begin', [tokens]),
    extend: (tokens, leaseMs, alone = false) => access.call('extend', [tokens, leaseMs, alone, readTime(clock)]),
    async reap(maxRescues, deadOwners = []) {
      const report = await access.call('reap', [maxRescues, deadOwners, readTime(clock)])
      if (report.returned > 0) wakeFile.touch()
      return report
    },
    standIn: (request) => access.standIn(request),
    watch: (wake) => wakeFile.listen(wake),
    async [Symbol.asyncDispose]() {
      wakeFile.close()
      await logSync.close()
      await access.close()
    },
  }
}

function jobStore(access: Access, wakeFile: WakeFile, clock: Clock): JobStore {
  async function waking<Answer>(work: Promise<Answer>): Promise<Answer> {
    const answer = await work
    wakeFile.touch()
    return answer
  }
  return {
    async get(id) {
      const row = await access.callInline('get', [id])
      return row === null ? null : recordOf(row)
    },
    list: async (filter) => (await access.call('list', [filter])).map(recordOf),
    counts: () => access.callInline('counts', []),
    leases: async (owners) => (await access.call('leases', [owners])).map(heldLeaseOf),
    leasesOf: async (ids) => (await access.callInline('leasesOf', [ids])).map(heldLeaseOf),
    cancel: (id) => waking(access.callInline('cancel', [id, readTime(clock)])),
    reschedule: (id, runAt) => waking(access.callInline('reschedule', [id, runAt, readTime(clock)])),
    amend: (amendments) => waking(access.callInline('amend', [flattenAmendments(amendments), readTime(clock)])),
    reject: (rejections) => waking(access.callInline('reject', [rejections, readTime(clock)])),
    retry: (ids) => waking(access.call('retry', [ids, readTime(clock)])),
    remove: (filter) => access.call('remove', [filter]),
    report: (reports) => access.call('report', [reports]),
    links: (id) => access.callInline('links', [id]),
    tree: (root) => access.call('tree', [root]),
    cancelTree: (id) => waking(access.call('cancelTree', [id, readTime(clock)])),
    async mend(limit) {
      const report = await access.call('mend', [limit, readTime(clock)])
      if (report.mended > 0) wakeFile.touch()
      return report
    },
    pause: (queue) => access.callInline('pause', [queue]),
    resume: (queue) => waking(access.callInline('resume', [queue])),
    pausedQueues: () => access.callInline('pausedQueues', []),
    holds: (id, rules) => access.call('holds', [id, rules, readTime(clock)]),
    schedules: scheduleStore(access, clock, waking),
    workers: {
      announce: (worker, ttlMs) => access.callInline('announceWorker', [worker, ttlMs, readTime(clock)]),
      leave: (owner) => access.callInline('workerLeaves', [owner]),
      list: () => access.callInline('listWorkers', [readTime(clock)]),
    },
    numbers: {
      reserve: (count) => access.callInline('reserveNumbers', [count]),
      assign: (ids) => access.callInline('assignNumbers', [ids]),
      find: (numbers) => access.callInline('findNumbers', [numbers]),
    },
  }
}

function scheduleStore(access: Access, clock: Clock, waking: <Answer>(work: Promise<Answer>) => Promise<Answer>): ScheduleStore {
  return {
    register: (entries) => access.call('registerSchedules', [entries, readTime(clock)]),
    standings: async (names) => readStandings(await access.call('standings', [names])),
    revision: () => access.callInline('scheduleRevision', []),
    enqueue: (occurrences) => waking(access.call('enqueueOccurrences', [flattenOccurrences(occurrences), readTime(clock)])),
    find: async (keys) => readOccurrences(await access.call('findOccurrences', [keys])),
    async recent(schedule, upTo, limit) {
      const found = readOccurrences(await access.callInline('recentOccurrences', [schedule, upTo, limit]))
      return found.filter((each) => each !== null)
    },
    neighbours: (key) => access.callInline('neighbours', [key, readTime(clock)]),
    markSeen: (keys) => access.call('markSeen', [keys, readTime(clock)]),
    skipWaiting: (request) => access.call('skipWaiting', [request, readTime(clock)]),
    pause: (name) => access.callInline('pauseSchedule', [name, readTime(clock)]),
    resume: (name) => access.callInline('resumeSchedule', [name, readTime(clock)]),
    remove: (name) => access.call('removeSchedule', [name, readTime(clock)]),
    list: async () => readSchedules(await access.call('listSchedules', [readTime(clock)])),
    forget: (before, limit) => access.call('forgetOccurrences', [before, limit]),
  }
}
