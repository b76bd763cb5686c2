import { isPassing, TreadleError } from '../core/errors.ts'
import { randomToken } from '../core/id.ts'
import { hostName, processId } from '../core/process/environment.ts'
import { type Clock, pause, stopwatchOf } from '../core/time/clock.ts'
import type { WholeBackend } from '../queue/contract/contract.ts'
import type { FactPage, Packed, PackRequest, Parcel, Refusal, Transfer } from '../queue/contract/transfer.ts'
import { countsOf, type MovePlan, type MoveProgress, type MoveReport, sumOf } from './move-report.ts'
import type { Target } from './target.ts'

/** A queue that jobs can be taken out of. */
export type Source = WholeBackend & { readonly transfer: Transfer }

export interface MoverOptions {
  readonly source: Source
  readonly target: Target
  readonly queue: string | null
  /** Producers and workers use both queues during the move. */
  readonly live: boolean
  /** How long there must be nothing to move before a live move ends. */
  readonly idleMs: number
  /** A live move leaves younger jobs alone: their sender may be sending them again. */
  readonly settleMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress: (progress: MoveProgress) => void
}

/** Number of jobs per parcel. More means fewer round trips, but more jobs that are briefly in neither queue. */
const jobsPerParcel = 500
const factsPerPage = 1_000
const keptRefusals = 1_000
const lookEveryMs = 500
const firstPauseMs = 100
const longestPauseMs = 5_000
const maxRescues = 3
const lockName = 'treadle move'
const lockMs = 4_000

/** Moves one queue. It can be interrupted at any point, and the next move continues from there. */
export class Mover {
  readonly #options: MoverOptions
  readonly #elapsedMs: () => number
  readonly #owner = randomToken()
  readonly #refused = new Map<string, Refusal>()
  readonly #unreadable = new Set<string>()
  #identity = ''
  #moved = 0
  #refusedJobs = 0
  #schedules = 0
  #total = 0
  #renewedAt = Number.NEGATIVE_INFINITY
  #isWaitingFor: string | null = null

  constructor(options: MoverOptions) {
    this.#options = options
    this.#elapsedMs = stopwatchOf(options.clock)
  }

  async plan(): Promise<MovePlan> {
    const { source, target, queue } = this.#options
    const { store, transfer } = source
    const [counts, schedules, paused, parcels, workers] = await Promise.all([
      store.counts(),
      store.schedules.standings(),
      store.paused().then(({ queues }) => queues),
      transfer.parcels(),
      store.workers.list(),
    ])
    return {
      jobs: countsOf(counts, queue),
      schedules: schedules.length,
      pausedQueues: paused.filter((name) => queue === null || name === queue),
      parcels: parcels.length,
      workers: workers.length,
      cannotHold: target.cannotHold,
    }
  }

  async run(): Promise<MoveReport> {
    await this.#refuseWorkers()
    await this.#lock()
    try {
      this.#identity = await this.#lasting(() => this.#options.target.identity())
      await this.#refuseOwnQueue()
      await this.#lasting(() => this.#deliverPending())
      await this.#count()
      await this.#copyFacts()
      const isComplete = await this.#moveAll()
      // A parcel whose response was lost may have been stored after the check for parcels.
      await this.#lasting(() => this.#deliverPending())
      await this.#copyFacts()
      return await this.#report(isComplete)
    } finally {
      await this.#options.source.coordination.unlock(lockName, this.#owner).catch(() => {})
    }
  }

  /** Passes over the queue until nothing is left. */
  async #moveAll(): Promise<boolean> {
    const { signal, live, idleMs, clock } = this.#options
    let idleSince: number | null = null
    for (;;) {
      const moved = await this.#walk()
      if (signal.aborted) return false
      const { running, waiting } = await this.#count()
      if (moved > 0) idleSince = null
      else if (waiting === 0 && running === 0) idleSince ??= this.#elapsedMs()
      else if (live || running > 0) idleSince = null
      else return waiting === 0
      if (idleSince !== null && (!live || this.#elapsedMs() - idleSince >= idleMs)) return true
      if (moved > 0) continue
      this.#isWaitingFor = running > 0 ? 'running jobs to return' : waiting > 0 ? 'new jobs to settle' : 'more jobs'
      this.#reportProgress()
      await pause(clock, lookEveryMs, signal)
      // Jobs of workers that died return when their leases have expired.
      await this.#lasting(() => this.#options.source.reap(maxRescues))
    }
  }

  /** Makes one pass over the queue. Returns the number of jobs that arrived. */
  async #walk(): Promise<number> {
    const { source, queue, live, settleMs, signal, clock } = this.#options
    const before = this.#moved
    this.#refused.clear()
    this.#refusedJobs = 0
    let after: string | null = null
    // Packs the next parcel while the last one is being delivered.
    let delivering = Promise.resolve()
    do {
      if (signal.aborted) break
      await this.#renew()
      const now = source.now?.() ?? clock.now()
      const createdBefore = live ? now - settleMs : Number.MAX_SAFE_INTEGER
      const request: PackRequest = { target: this.#identity, queue, createdBefore, after, limit: jobsPerParcel }
      // If the response is lost, the parcel may have been packed anyway.
      const packed: Packed = await this.#lasting(
        () => source.transfer.pack(request),
        () => delivering.then(() => this.#deliverPending()),
      )
      after = packed.after
      for (const id of packed.unreadable) this.#unreadable.add(id)
      await delivering
      if (packed.parcel !== null) delivering = this.#deliver(packed.parcel)
      // The failure is reported where `delivering` is awaited; until then, avoid an unhandled rejection.
      delivering.catch(() => {})
    } while (after !== null)
    await delivering
    return this.#moved - before
  }

  /** Delivers the parcels of an earlier move that was interrupted. */
  async #deliverPending(): Promise<void> {
    const { transfer } = this.#options.source
    for (const { id, target } of await transfer.parcels()) {
      if (target !== this.#identity) throw new TreadleError('MOVE_REFUSED', elsewhere)
      const parcel = await transfer.parcel(id)
      if (parcel !== null) await this.#deliver(parcel)
    }
  }

  async #deliver(parcel: Parcel): Promise<void> {
    const { source, target } = this.#options
    const refusals = await this.#lasting(() => target.unpack(parcel))
    const ids = refusals.map(({ id }) => id)
    await this.#lasting(() => source.transfer.close(parcel.id, ids))
    for (const refusal of refusals) if (this.#refused.size < keptRefusals) this.#refused.set(refusal.id, refusal)
    const jobs = parcel.units.reduce((sum, unit) => sum + unit.jobs.length, 0)
    const refusedJobs = refusals.reduce((sum, refusal) => sum + refusal.jobs, 0)
    this.#moved += jobs - refusedJobs
    this.#refusedJobs += refusedJobs
    this.#schedules += parcel.schedules.length
    this.#isWaitingFor = null
    this.#reportProgress()
  }

  async #copyFacts(): Promise<void> {
    const { source, target, signal } = this.#options
    let after: string | null = null
    do {
      const from: string | null = after
      const page: FactPage = await this.#lasting(() => source.transfer.facts({ after: from, limit: factsPerPage }))
      if (page.facts.length > 0) await this.#lasting(() => target.learn(page.facts))
      after = page.after
    } while (after !== null && !signal.aborted)
  }

  /** Retries while a database is unavailable, until the signal aborts. `work` must be safe to run twice. */
  async #lasting<Value>(work: () => Promise<Value>, before?: () => Promise<void>): Promise<Value> {
    const { signal, clock } = this.#options
    for (let failures = 0; ; failures++) {
      try {
        if (failures > 0) await before?.()
        return await work()
      } catch (thrown) {
        if (!isPassing(thrown) || signal.aborted) throw thrown
        this.#isWaitingFor = 'the database'
        this.#reportProgress()
        await pause(clock, Math.min(firstPauseMs * 2 ** failures, longestPauseMs), signal)
        if (signal.aborted) throw thrown
      }
    }
  }

  /** Leaves out jobs that the target cannot take, as they are not waited for. */
  async #count(): Promise<{ readonly running: number; readonly waiting: number }> {
    const { source, queue } = this.#options
    const counts = countsOf(await this.#lasting(() => source.store.counts()), queue)
    const left = sumOf(counts)
    this.#total = this.#moved + left
    const waiting = Math.max(left - counts.running - this.#refusedJobs - this.#unreadable.size, 0)
    return { running: counts.running, waiting }
  }

  async #report(isComplete: boolean): Promise<MoveReport> {
    const { source, queue } = this.#options
    const refused = [...this.#refused.values()]
    return {
      moved: this.#moved,
      schedules: this.#schedules,
      refused,
      refusedJobs: this.#refusedJobs,
      unreadable: [...this.#unreadable],
      left: countsOf(await source.store.counts(), queue),
      isComplete: isComplete && refused.length === 0 && this.#unreadable.size === 0,
      elapsedMs: Math.round(this.#elapsedMs()),
    }
  }

  #reportProgress(): void {
    const elapsedMs = this.#elapsedMs()
    this.#options.onProgress({
      moved: this.#moved,
      total: Math.max(this.#total, this.#moved),
      refused: this.#refusedJobs,
      rate: elapsedMs > 0 ? (this.#moved * 1_000) / elapsedMs : 0,
      waitingFor: this.#isWaitingFor,
    })
  }

  /**
   * With workers running, moved jobs may be sent again, or run under limits that each side counts on its own. That must be
   * requested explicitly.
   */
  async #refuseWorkers(): Promise<void> {
    const { source, live } = this.#options
    const workers = live ? [] : await this.#lasting(() => source.store.workers.list())
    if (workers.length === 0) return
    const names = workers.map(({ owner }) => owner).slice(0, 3)
    const message = `Workers run on the source (${names.join(', ')}): stop them, or move it --live`
    throw new TreadleError('MOVE_REFUSED', message)
  }

  async #refuseOwnQueue(): Promise<void> {
    const own = await this.#lasting(() => this.#options.source.transfer.identity())
    if (own === this.#identity) throw new TreadleError('MOVE_REFUSED', 'The source and the target are the same queue')
  }

  /** The lock of a move that was killed becomes free after some seconds. */
  async #lock(): Promise<void> {
    const { clock, signal } = this.#options
    const giveUpAt = this.#elapsedMs() + 3 * lockMs
    while (!(await this.#renew())) {
      if (this.#elapsedMs() >= giveUpAt || signal.aborted) {
        throw new TreadleError('MOVE_REFUSED', 'Another move of this queue is under way: let it end, or stop it')
      }
      this.#isWaitingFor = 'another move of this queue'
      this.#reportProgress()
      await pause(clock, lookEveryMs, signal)
    }
  }

  async #renew(): Promise<boolean> {
    const { source } = this.#options
    const now = this.#elapsedMs()
    if (now - this.#renewedAt < lockMs / 3) return true
    const holder = { owner: this.#owner, host: hostName(), pid: processId() }
    const { held } = await this.#lasting(() => source.coordination.lock(lockName, holder, lockMs))
    if (held) this.#renewedAt = now
    return held
  }
}

const elsewhere =
  'An earlier move to another target was interrupted, and some of its jobs are under way: run it again first, with the same --to'
