import type { Answer } from '../../core/answer.ts'
import type { TimeReading } from '../../core/clock.ts'
import type { WorkTransaction } from '../../definition/sql-transaction.ts'
import type { ClockJump } from '../clock-jumps.ts'
import type {
  ClaimRules,
  Hold,
  LockAnswer,
  LockHolder,
  OnceClaim,
  ReapReport,
  SendReceipt,
  Settlement,
  SettleReceipt,
  StandInRequest,
} from '../contract.ts'
import type { WorkerPresence, WorkerRecord } from '../presence.ts'
import type { Neighbours, OccurrenceKey, ScheduleEntry, SkipRequest } from '../schedule-store.ts'
import type {
  AmendAnswer,
  JobCount,
  JobFilter,
  JobLink,
  JobStore,
  MendReport,
  ProgressReport,
  RejectAnswer,
  Rejection,
  RemoveFilter,
  TreeCancellation,
  TreeCounts,
} from '../store.ts'
import type { FlatAmendments } from './amending.ts'
import type { ClaimedRows, FlatRequest, Outlook } from './claiming.ts'
import type { ConnectionOptions } from './connection.ts'
import type { FileIdentity } from './file-watch.ts'
import type { FlatEnvelopes } from './flat-envelopes.ts'
import type { Standstill } from './keeping.ts'
import type { FlatOccurrences } from './occurrences.ts'
import type { FlatSettlement } from './plainly-done.ts'
import type { HeldRow, JobRow } from './record.ts'
import type { Settled } from './settling.ts'

/** Only what differs from the ordinary crosses back: the receipts of envelopes that were there already. */
export type TakenReceipts = readonly (readonly [index: number, receipt: SendReceipt])[]

export interface Claimed extends Omit<ClaimedRows, 'nextTokenAt'>, Outlook {
  readonly claim: string
  /** Of the leases that it gives. */
  readonly expiresAt: number
}

/** The engine in the program's own thread can also be given what does not cross to another one. */
export interface LocalEngine extends Engine {
  complete(token: string, work: (tx: WorkTransaction) => Answer<Settlement>, time: TimeReading): Settled
  end(settlement: Settlement, time: TimeReading): SettleReceipt
  /** The file as SQLite calls it. */
  readonly file: string
  /** Undefined for a database in memory. */
  readonly identity: FileIdentity | undefined
  /** Throws where the path does not name the open file any more. */
  checkFile(): void
  /** On a connection that is the caller's: what was remembered of a transaction may have been rolled back since. */
  forget(): void
}

/**
 * The whole queue on one connection, synchronous. It runs in the program's thread and in the database's thread alike, so it
 * takes and gives only what can be cloned. Its time is the program's, read when a transaction has its lock: whatever counts from
 * now counts from there.
 */
export interface Engine {
  send(flat: FlatEnvelopes, time: TimeReading): TakenReceipts
  /** For whoever brings it to disk himself before he acknowledges it. */
  sendUnsynced(flat: FlatEnvelopes, time: TimeReading): TakenReceipts
  lease(request: FlatRequest, claim: string, time: TimeReading): Claimed
  settle(settlements: readonly FlatSettlement[], time: TimeReading): Settled
  begin(tokens: readonly string[]): readonly SettleReceipt[]
  extend(tokens: readonly string[], leaseMs: number, alone: boolean, time: TimeReading): readonly SettleReceipt[]
  keepLeases(request: StandInRequest, standstill: Standstill): void
  /** The clock was set: what counts down has as much time left as before. */
  moveTimes(jump: ClockJump): void
  reap(maxRescues: number, deadOwners: readonly string[], time: TimeReading): ReapReport
  claimOnce(key: string, jobId: string, time: TimeReading): OnceClaim
  sweepKeys(limit: number, time: TimeReading): number
  lock(name: string, holder: LockHolder, ttlMs: number, time: TimeReading): LockAnswer
  unlock(name: string, owner: string, time: TimeReading): boolean
  get(id: string): JobRow | null
  list(filter: JobFilter): readonly JobRow[]
  counts(): readonly JobCount[]
  leases(owners: readonly string[]): readonly HeldRow[]
  leasesOf(ids: readonly string[]): readonly HeldRow[]
  cancel(id: string, time: TimeReading): Awaited<ReturnType<JobStore['cancel']>>
  reschedule(id: string, runAt: number, time: TimeReading): Awaited<ReturnType<JobStore['reschedule']>>
  amend(amendments: FlatAmendments, time: TimeReading): readonly AmendAnswer[]
  reject(rejections: readonly Rejection[], time: TimeReading): readonly RejectAnswer[]
  retry(ids: readonly string[], time: TimeReading): Awaited<ReturnType<JobStore['retry']>>
  remove(filter: RemoveFilter): number
  report(reports: readonly ProgressReport[]): void
  links(id: string): readonly JobLink[]
  tree(root: string): TreeCounts
  cancelTree(id: string, time: TimeReading): TreeCancellation
  mend(limit: number, time: TimeReading): MendReport
  pause(queue: string): void
  resume(queue: string): void
  pausedQueues(): readonly string[]
  holds(id: string, rules: ClaimRules, time: TimeReading): readonly Hold[]
  registerSchedules(entries: readonly ScheduleEntry[], time: TimeReading): void
  enqueueOccurrences(occurrences: FlatOccurrences, time: TimeReading): readonly boolean[]
  findOccurrences(keys: readonly OccurrenceKey[]): string
  recentOccurrences(schedule: string, upTo: number, limit: number): string
  neighbours(key: OccurrenceKey, time: TimeReading): Neighbours
  markSeen(keys: readonly OccurrenceKey[], time: TimeReading): void
  skipWaiting(request: SkipRequest, time: TimeReading): number
  standings(names: readonly string[] | undefined): string
  scheduleRevision(): number
  pauseSchedule(name: string, time: TimeReading): boolean
  resumeSchedule(name: string, time: TimeReading): boolean
  removeSchedule(name: string, time: TimeReading): boolean
  listSchedules(time: TimeReading): string
  forgetOccurrences(before: number, limit: number): number
  announceWorker(worker: WorkerPresence, ttlMs: number, time: TimeReading): void
  workerLeaves(owner: string): void
  listWorkers(time: TimeReading): readonly WorkerRecord[]
  reserveNumbers(count: number): number
  assignNumbers(ids: readonly string[]): readonly (number | null)[]
  findNumbers(numbers: readonly number[]): readonly (string | null)[]
  /** What identities end with, by their numbers. These never change. */
  stampTexts(stamps: readonly number[]): readonly string[]
  /** Copies all commits into the database itself, on disk; false where somebody is in the way. */
  emptyLog(): boolean
  /** How long a transaction waits for those of other processes. */
  setPatience(ms: number): void
  close(): void
}

export interface EngineOptions extends ConnectionOptions {
  readonly migrate: boolean
}
