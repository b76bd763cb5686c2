import type { Answer } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import { type TimeReading, timeNow } from '../../../core/time/clock.ts'
import type { WorkTransaction } from '../../../definition/transactions/sql-transaction.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { ClaimableJob, JoinedQueue, SendReceipt, Settlement, StandInRequest } from '../../../queue/contract/contract.ts'
import type { ClockJump } from '../../../queue/time/clock-jumps.ts'
import { earliest } from '../../../queue/time/earliest.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { claimFirst, storeNew, succeedHeld } from '../../sql/portable-shortcuts.ts'
import { type SqlQueue, sqlQueue } from '../../sql/queue.ts'
import type { Shortcuts } from '../../sql/shortcuts.ts'
import { type ClaimedRows, type FlatRequest, flattenRows } from '../fast-path/claimed-rows.ts'
import { Refused } from '../fast-path/fast-parts.ts'
import { FastPaths } from '../fast-path/fast-paths.ts'
import { type FlatEnvelopes, unflattened } from '../fast-path/flat-envelopes.ts'
import { readJobs } from '../fast-path/flat-rules.ts'
import { type FlatSettlement, settlementOf } from '../fast-path/flat-settlements.ts'
import { KeptCounts } from '../fast-path/kept-counts.ts'
import { Stamps } from '../fast-path/stamps.ts'
import type { Connection } from '../file/connection.ts'
import { type Durability, done, FileDatabase } from '../file/file-database.ts'
import type { FileIdentity } from '../file/file-watch.ts'
import { type Completed, complete, endJoined } from '../transactions/completing.ts'
import type { EngineOptions, LocalEngine, Ruled, Settled, TakenReceipts } from './engine.ts'
import { Keeping, type Standstill } from './keeping.ts'
import { MovingTimes } from './moving-times.ts'
import { mannerOf, methodsOf, type RuleCall, ruledParts } from './rule-calls.ts'

type Method = (...args: readonly unknown[]) => Generator<Answer<unknown>, unknown>

/** Built once per connection, and rebuilt after a rollback of anything it may have cached. */
interface Made {
  readonly rules: SqlQueue
  readonly methods: ReadonlyMap<RuleCall, Method>
  readonly fastPaths: FastPaths | null
}

/** The rules of the queue on one open file. */
export class FileEngine implements LocalEngine {
  readonly #connection: Connection
  readonly #database: FileDatabase
  readonly #stamps: Stamps
  readonly #hasFastPaths: boolean
  readonly #time: QueueTime
  #reading: TimeReading = 0
  #made: Made | undefined
  #wakes = false
  #asked: { readonly text: string; readonly jobs: readonly ClaimableJob[] } = { text: '[]', jobs: [] }

  constructor(connection: Connection, { fastPaths }: Pick<EngineOptions, 'fastPaths'>) {
    this.#connection = connection
    this.#database = new FileDatabase(connection)
    this.#stamps = new Stamps(connection)
    this.#hasFastPaths = fastPaths
    const now = () => timeNow(this.#reading)
    this.#time = { now, stated: now, toLocal: (at) => at, dueAt: (runAt) => runAt }
  }

  get parts(): object {
    return ruledParts(this.#rules)
  }

  send(flat: FlatEnvelopes, time: TimeReading): TakenReceipts {
    return this.#send('durable', flat, time)
  }

  sendUnsynced(flat: FlatEnvelopes, time: TimeReading): TakenReceipts {
    return this.#send('relaxed', flat, time)
  }

  lease(request: FlatRequest, claim: string, time: TimeReading): ClaimedRows {
    const asked = { ...request, jobs: this.#jobsOf(request) }
    return this.#call('relaxed', time, () => this.#using.fastPaths?.claim(asked, claim) ?? this.#claim(asked, claim))
  }

  settle(settlements: readonly FlatSettlement[], time: TimeReading): Settled {
    const quickly = () => this.#using.fastPaths?.succeed(settlements) ?? this.#settle(settlements)
    return this.#quickly('durable', time, quickly, () => this.#settle(settlements))
  }

  rule(name: RuleCall, args: readonly unknown[], time: TimeReading): Ruled {
    const { isUnit, durability } = mannerOf(name, args)
    const method = this.#using.methods.get(name)
    if (method === undefined) throw new TreadleError('DATABASE_FAILED', `The queue has no call ${name}`)
    this.#wakes = false
    const work = () => done(method(...args))
    const answer = isUnit ? this.#unit(durability, time, work) : this.#call(durability, time, work)
    return { answer, wakes: this.#wakes }
  }

  complete(token: string, work: (tx: WorkTransaction) => Answer<Settlement>, time: TimeReading): Completed {
    const run = <Value>(part: () => Value) => this.#unit('durable', time, part)
    const settle = (settlement: Settlement) => done(this.#rules.settling.settle([settlement], this.#time))
    return complete(token, work, { connection: this.#connection, run, settle, within: this.within(() => time) })
  }

  within(time: () => TimeReading): JoinedQueue {
    const unit = <Value>(work: () => Value) => this.#unit('durable', time(), work)
    return {
      send: (envelopes) => unit(() => this.#store(envelopes)),
      get: (id) => this.#call('durable', time(), () => done(this.#rules.store.get(id))),
      amend: (amendments) => unit(() => done(this.#rules.store.amend(amendments))),
      settle: (settlement) =>
        endJoined(settlement, unit, (end) => done(this.#rules.settling.settle([end], this.#time)).receipts[0] ?? 'lost'),
    }
  }

  keepLeases(request: StandInRequest, standstill: Standstill): void {
    this.#unit('relaxed', standstill.now, () => new Keeping(this.#connection).keep(request, standstill))
  }

  moveTimes(jump: ClockJump): void {
    this.#unit('durable', 0, () => new MovingTimes(this.#connection).move(jump))
    this.forget()
  }

  stampTexts(stamps: readonly number[]): readonly string[] {
    return this.#connection.readChecked(() => this.#stamps.textsOf(stamps))
  }

  emptyLog(): boolean {
    return this.#connection.emptyLog()
  }

  setPatience(ms: number): void {
    this.#connection.setBusyMs(ms)
  }

  get file(): string {
    return this.#connection.file
  }

  get identity(): FileIdentity | undefined {
    return this.#connection.identity
  }

  checkFile(): void {
    this.#connection.checkFile()
  }

  forget(): void {
    this.#made = undefined
    this.#stamps.forget()
  }

  close(): void {
    this.#connection.close()
  }

  get #using(): Made {
    this.#made ??= this.#make()
    return this.#made
  }

  get #rules(): SqlQueue {
    return this.#using.rules
  }

  #make(): Made {
    const database = this.#database
    const wake = () => {
      this.#wakes = true
    }
    const rules = sqlQueue({
      database,
      shortcuts: plainShortcuts,
      counts: new KeptCounts(database, this.#time),
      time: this.#time,
      wake,
    })
    const parts = { connection: this.#connection, database, stamps: this.#stamps, time: this.#time, rules }
    return {
      rules,
      methods: methodsOf(ruledParts(rules)) as ReadonlyMap<RuleCall, Method>,
      fastPaths: this.#hasFastPaths ? new FastPaths(parts) : null,
    }
  }

  #unit<Value>(durability: Durability, time: TimeReading, work: () => Value): Value {
    return this.#call(durability, time, () => this.#database.unit(work))
  }

  /** If the fast path refuses, its changes are rolled back and the rules take over. */
  #quickly<Value>(durability: Durability, time: TimeReading, quickly: () => Value, byRules: () => Value): Value {
    try {
      return this.#unit(durability, time, quickly)
    } catch (thrown) {
      if (!(thrown instanceof Refused)) throw thrown
      return this.#unit(durability, time, byRules)
    }
  }

  /** After a failure, the cached state may no longer match the file. */
  #call<Value>(durability: Durability, time: TimeReading, work: () => Value): Value {
    this.#reading = time
    const { transactions } = this.#database
    try {
      const answer = this.#database.writing(durability, work)
      if (this.#database.transactions === transactions) this.#connection.checkFile()
      return answer
    } catch (thrown) {
      this.forget()
      throw thrown
    }
  }

  #send(durability: Durability, flat: FlatEnvelopes, time: TimeReading): TakenReceipts {
    const store = () => taken(this.#store(unflattened(flat)))
    const quickly = () => (this.#using.fastPaths?.store(flat) === true ? [] : store())
    return this.#quickly(durability, time, quickly, store)
  }

  #store(envelopes: readonly Envelope[]): readonly SendReceipt[] {
    return envelopes.length === 0 ? [] : done(this.#rules.sending.send(envelopes, this.#time))
  }

  #claim(request: Omit<FlatRequest, 'jobs'> & { readonly jobs: readonly ClaimableJob[] }, claim: string): ClaimedRows {
    const { rows, nextAt, cancelled } = done(this.#rules.claim(request, claim))
    const { lanes } = this.#rules.shared
    const numbers = new Set(rows.map(({ lane }) => lane))
    const expiresAt = earliest(rows.map(({ lease_until }) => lease_until)) ?? 0
    return { claim, columns: flattenRows(rows), lanes: [...numbers].map((lane) => lanes.get(lane)), expiresAt, nextAt, cancelled }
  }

  #settle(settlements: readonly FlatSettlement[]): Settled {
    const { receipts, released } = done(this.#rules.settling.settle(settlements.map(settlementOf), this.#time))
    const others = receipts.flatMap((receipt, index) => (receipt === 'applied' ? [] : [[index, receipt] as const]))
    return { others, released }
  }

  /** A worker asks for the same jobs each time, so the parsed list is reused. */
  #jobsOf({ jobs: text }: FlatRequest): readonly ClaimableJob[] {
    if (this.#asked.text !== text) this.#asked = { text, jobs: readJobs(text) }
    return this.#asked.jobs
  }
}

/** Plain jobs in a batch with others. A batch of plain jobs alone is faster through `FastPaths`. */
const plainShortcuts: Shortcuts = { store: storeNew, succeed: succeedHeld, claim: claimFirst, heedsPauses: false }

/** Keeps only the receipts of envelopes that were not stored. */
function taken(receipts: readonly SendReceipt[]): TakenReceipts {
  return receipts.flatMap((receipt, index) => (receipt.stored ? [] : [[index, receipt] as const]))
}
