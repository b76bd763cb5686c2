import type { Answer } from '../../../core/answer.ts'
import type { TimeReading } from '../../../core/time/clock.ts'
import type { WorkTransaction } from '../../../definition/transactions/sql-transaction.ts'
import type { JoinedQueue, SendReceipt, Settlement, SettleReceipt, StandInRequest } from '../../../queue/contract/contract.ts'
import type { ClockJump } from '../../../queue/time/clock-jumps.ts'
import type { ClaimedRows, FlatRequest } from '../fast-path/claimed-rows.ts'
import type { FlatEnvelopes } from '../fast-path/flat-envelopes.ts'
import type { FlatSettlement } from '../fast-path/flat-settlements.ts'
import type { ConnectionOptions } from '../file/connection.ts'
import type { FileIdentity } from '../file/file-watch.ts'
import type { Completed } from '../transactions/completing.ts'
import type { Standstill } from './keeping.ts'
import type { RuleCall } from './rule-calls.ts'

/** The receipts of envelopes that were not stored. Only these cross back to the program's thread. */
export type TakenReceipts = readonly (readonly [index: number, receipt: SendReceipt])[]

export interface Settled {
  /** By index; all others were applied. */
  readonly others: readonly (readonly [index: number, receipt: SettleReceipt])[]
  /** A job that waited for one of these became ready. */
  readonly released: boolean
}

/** The result of a call to the rules. */
export interface Ruled {
  readonly answer: unknown
  /** Whether something may have become ready. */
  readonly wakes: boolean
}

/** The engine in the program's own thread, which also accepts what cannot be passed to another thread. */
export interface LocalEngine extends Engine {
  complete(token: string, work: (tx: WorkTransaction) => Answer<Settlement>, time: TimeReading): Completed
  /** The queue inside a transaction that is open on the same connection. */
  within(time: () => TimeReading): JoinedQueue
  /** The calls that `rule` answers, as methods. */
  readonly parts: object
  /** The path as SQLite reports it. */
  readonly file: string
  /** Undefined for a database in memory. */
  readonly identity: FileIdentity | undefined
  /** Throws if the path no longer refers to the open file. */
  checkFile(): void
  /** For a caller's connection: discards cached state, because the transaction it came from may have been rolled back. */
  forget(): void
}

/**
 * The whole queue on one connection, synchronous. It runs both in the program's thread and in the database thread, so it accepts
 * and returns only what can be cloned. It uses the program's time, read once the transaction has its lock: everything relative to
 * now starts there.
 */
export interface Engine {
  send(flat: FlatEnvelopes, time: TimeReading): TakenReceipts
  /** For callers that sync to disk themselves before they acknowledge the jobs. */
  sendUnsynced(flat: FlatEnvelopes, time: TimeReading): TakenReceipts
  lease(request: FlatRequest, claim: string, time: TimeReading): ClaimedRows
  settle(settlements: readonly FlatSettlement[], time: TimeReading): Settled
  /** Any other call, by name. */
  rule(name: RuleCall, args: readonly unknown[], time: TimeReading): Ruled
  keepLeases(request: StandInRequest, standstill: Standstill): void
  /** The clock was set: running deadlines keep the time they had left. */
  moveTimes(jump: ClockJump): void
  /** The texts that identities end with, by stamp. They never change. */
  stampTexts(stamps: readonly number[]): readonly string[]
  /** Copies all commits into the database file and syncs it; false if another connection is in the way. */
  emptyLog(): boolean
  /** How long a transaction waits for those of other processes. */
  setPatience(ms: number): void
  close(): void
}

export interface EngineOptions extends ConnectionOptions {
  readonly migrate: boolean
  /** False turns the fast paths off, so that the rules handle every call: see `FastPaths`. */
  readonly fastPaths: boolean
}
