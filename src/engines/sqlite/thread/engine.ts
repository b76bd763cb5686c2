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

/** Only what differs from the ordinary crosses back: the receipts of envelopes that were not stored. */
export type TakenReceipts = readonly (readonly [index: number, receipt: SendReceipt])[]

export interface Settled {
  /** By their places; all the rest are applied. */
  readonly others: readonly (readonly [index: number, receipt: SettleReceipt])[]
  /** A job that waited for one of these has become ready. */
  readonly released: boolean
}

/** What a rule of the queue came to. */
export interface Ruled {
  readonly answer: unknown
  /** Something may have become ready. */
  readonly wakes: boolean
}

/** The engine in the program's own thread can also be given what does not cross to another one. */
export interface LocalEngine extends Engine {
  complete(token: string, work: (tx: WorkTransaction) => Answer<Settlement>, time: TimeReading): Completed
  /** The queue in a transaction that is open on the same connection. */
  within(time: () => TimeReading): JoinedQueue
  /** The calls that `rule` answers, as methods. */
  readonly parts: object
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
  lease(request: FlatRequest, claim: string, time: TimeReading): ClaimedRows
  settle(settlements: readonly FlatSettlement[], time: TimeReading): Settled
  /** Any other call, by its name. */
  rule(name: RuleCall, args: readonly unknown[], time: TimeReading): Ruled
  keepLeases(request: StandInRequest, standstill: Standstill): void
  /** The clock was set: what counts down has as much time left as before. */
  moveTimes(jump: ClockJump): void
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
  /** False has the rules alone answer everything: see `FastPaths`. */
  readonly fastPaths: boolean
}
