import type { ServedQueue } from '../../../app/workers/served-queue.ts'
import { messageOf, TreadleError } from '../../../core/errors.ts'
import { type Clock, nextTurn, pauseBeforeRetry, type Timer } from '../../../core/time/clock.ts'
import { largestClaimOf } from '../../../queue/backend/largest-claim.ts'
import type { Lease, LeaseBatch, LeaseRequest, Watch } from '../../../queue/contract/contract.ts'
import { observedCall } from '../../../telemetry/observed-calls.ts'
import { PollInterval } from '../../../worker/loop/poll-interval.ts'
import type { JobNames } from '../job-names.ts'
import type { ClaimLimits } from './claim-limits.ts'
import { type JointClaim, jointClaimOf, shareOut } from './joint-claims.ts'
import { LineNews } from './line-news.ts'
import { type Demand, lineKey, type Waiter, WaitingLine } from './waiting-line.ts'

export interface ClaimRequest extends Demand {
  readonly limit: number
  /** How long to wait if there is nothing; 0 means not at all, null without a limit. */
  readonly waitMs: number | null
  /** Any of them ends the wait with an empty result. */
  readonly signals: readonly AbortSignal[]
}

export interface ClaimsDeps {
  readonly queue: ServedQueue
  readonly names: JobNames
  readonly limits: ClaimLimits
  /** A job is put aside after this many lost leases. */
  readonly maxRescues: number
}

const pollMs = 1_000
/** How often to reap expired leases while clients wait. Claims find them anyway, but there may be no claims. */
const reapEveryMs = 5_000
const pauseAfterFailureMs = 1_000

/**
 * Claims jobs for other programs, which may wait for them. Identical requests are served by one claim, and all are served in
 * order of arrival. While nothing happens, all waiting requests together cost one occasional read of the counters.
 */
export class Claims {
  readonly #deps: ClaimsDeps
  readonly #clock: Clock
  readonly #lines = new Map<string, WaitingLine>()
  readonly #looks: PollInterval
  readonly #watch: Watch
  readonly #stopping = new AbortController()
  readonly #news: LineNews | null
  #places = 0
  /** Everything that was stored before this waiter arrived is known. */
  #knownPlace = 0
  #isStale = false
  /** Leases that were claimed for waiters that have since left, and that have not been put back yet. */
  #unwanted: readonly Lease[] = []
  #reapAt = 0
  #looping: Promise<void> | undefined
  #timer: Timer | undefined

  constructor(deps: ClaimsDeps) {
    const { backend, settings } = deps.queue
    this.#deps = deps
    this.#clock = settings.clock
    this.#watch = backend.watch(() => this.wake())
    this.#looks = new PollInterval(pollMs, () => this.#watch.isPush)
    this.#news = backend.patterns === undefined ? null : new LineNews(backend, backend.patterns, deps.maxRescues)
  }

  /** At most `limit` leases. Empty if nothing was available in time, or a signal was aborted. */
  async take({ limit, waitMs, signals, ...demand }: ClaimRequest): Promise<readonly Lease[]> {
    if (this.#stopping.signal.aborted || signals.some(({ aborted }) => aborted)) return []
    const { keys, registry } = this.#deps.queue
    // Without its key every job would be rejected as forged.
    keys?.ready()
    // With definitions that contradict each other no claim can succeed, however long it is tried.
    registry.definitions()
    const line = this.#lineOf(demand)
    return new Promise((resolve) => {
      const end = () => {
        line.remove(waiter)
        give([])
      }
      const give = (leases: readonly Lease[]) => {
        timer?.cancel()
        for (const signal of signals) signal.removeEventListener('abort', end)
        resolve(leases)
      }
      const waiter: Waiter = { place: ++this.#places, limit, isPatient: waitMs !== 0, give }
      const timer = waitMs === null || waitMs === 0 ? undefined : this.#clock.timer(waitMs, end)
      for (const signal of signals) signal.addEventListener('abort', end)
      line.add(waiter)
      this.#look()
    })
  }

  /** Something may have become ready. */
  wake(): void {
    this.#isStale = true
    this.#news?.woken()
    if (this.#lines.size > 0) this.#look()
  }

  /** Ends all waits with an empty result. No further waits are possible. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#watch.close()
    this.#timer?.cancel()
    await this.#looping
    for (const line of this.#lines.values()) line.close()
    this.#lines.clear()
  }

  #lineOf(demand: Demand): WaitingLine {
    const key = lineKey(demand)
    let line = this.#lines.get(key)
    if (line === undefined) {
      line = new WaitingLine(demand)
      this.#lines.set(key, line)
    }
    return line
  }

  #look(): void {
    if (!this.#stopping.signal.aborted) this.#looping ??= this.#loop()
  }

  async #loop(): Promise<void> {
    this.#timer?.cancel()
    // Let requests that have already arrived share the first claim.
    await nextTurn()
    let hasFound = false
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#putBackUnwanted()
        // Requests that have waited the longest must not be overtaken by new ones.
        if (this.#isStale && this.#isAnyWaiting()) await this.#refresh()
        const line = this.#nextLine()
        if (line === undefined) break
        const joint = this.#news?.hasFewReady === true ? jointClaimOf(line, this.#lines.values()) : null
        hasFound = (await (joint === null ? this.#serve(line) : this.#serveTogether(joint))) || hasFound
      } catch (thrown) {
        this.#complain(thrown)
        this.#isStale = true
        await pauseBeforeRetry(this.#clock, pauseAfterFailureMs, this.#stopping.signal)
      }
    }
    this.#looping = undefined
    this.#sleep(hasFound)
  }

  /** Whether a line has waiters but nothing to claim for now. */
  #isAnyWaiting(): boolean {
    for (const line of this.#lines.values()) if (!line.isHopeful && !line.isEmpty) return true
    return false
  }

  /** The hopeful line whose first waiter arrived first. */
  #nextLine(): WaitingLine | undefined {
    const now = this.#clock.now()
    let first: WaitingLine | undefined
    for (const [key, line] of this.#lines) {
      if (line.isEmpty) this.#lines.delete(key)
      else if (line.isHopeful && line.refusedUntil <= now && (first === undefined || line.head < first.head)) first = line
    }
    return first
  }

  /** Whether a job was found. */
  async #serve(line: WaitingLine): Promise<boolean> {
    const { backend } = this.#deps.queue
    const wanted = Math.min(line.wantedBefore(this.#nextHead(line)), largestClaimOf(backend))
    const place = this.#places
    line.isHopeful = false
    const request = this.#request(line.demand, wanted)
    const isNothing = request.jobs.length === 0 && request.others == null
    try {
      const { leases, nextAt } = isNothing ? nothing : await this.#lease(request)
      this.#unwanted = shareOut(leases, line.demand, this.#lines)
      await this.#putBackUnwanted()
      line.nextAt = nextAt
      const mayBeMore = leases.length > 0 && nextAt !== null && nextAt <= this.#clock.now()
      if (leases.length >= wanted || mayBeMore) line.isHopeful = true
      else await this.#foundTooFew(line, place)
      return leases.length > 0
    } catch (thrown) {
      line.isHopeful = true
      // The database answers, but refuses this claim. It must not keep the other lines from theirs.
      if (!(thrown instanceof TreadleError && thrown.code === 'DATABASE_FAILED')) throw thrown
      this.#complain(thrown)
      line.refusedUntil = this.#clock.now() + pauseAfterFailureMs
      return false
    }
  }

  /** The same for several lines at once. */
  async #serveTogether({ lines, keys, wanted }: JointClaim): Promise<boolean> {
    const { queue, limits } = this.#deps
    const [first] = lines
    const limit = Math.min(wanted, largestClaimOf(queue.backend))
    const place = this.#places
    for (const line of lines) line.isHopeful = false
    let mayBeMore = true
    try {
      const request = { ...this.#request(first.demand, limit), jobs: limits.ofDefinedOnce(keys), others: keys }
      const { leases, nextAt } = await this.#lease(request)
      const unwanted = shareOut(leases, first.demand, this.#lines)
      this.#unwanted = unwanted
      await this.#putBackUnwanted()
      for (const line of lines) line.nextAt = nextAt
      const isDue = nextAt !== null && nextAt <= this.#clock.now()
      const hasServed = unwanted.length < leases.length
      mayBeMore = hasServed && (leases.length >= limit || unwanted.length > 0 || isDue)
      if (!mayBeMore) for (const line of lines) line.disappoint(place)
      return leases.length > 0
    } finally {
      if (mayBeMore) for (const line of lines) line.isHopeful = true
    }
  }

  #complain(thrown: unknown): void {
    this.#deps.queue.settings.logger.error(`Jobs could not be claimed: ${messageOf(thrown)}`)
  }

  #lease(request: LeaseRequest): Promise<LeaseBatch> {
    const { backend, observers } = this.#deps.queue
    return observers.isOn ? observedCall('lease', observers, () => backend.lease(request)) : backend.lease(request)
  }

  /** Retried if it fails: nothing else knows that these jobs are not being worked on. */
  async #putBackUnwanted(): Promise<void> {
    if (this.#unwanted.length === 0) return
    await this.#deps.queue.backend.settle(this.#unwanted.map(({ token }) => ({ token, kind: 'snooze', delayMs: 0 })))
    this.#unwanted = []
  }

  /** If there is nothing for one line, there is nothing for any other that waits for the same jobs. */
  async #foundTooFew(line: WaitingLine, place: number): Promise<void> {
    if (this.#news === null && line.demand.names === null && this.#knownPlace < place && (await this.#learn())) {
      line.isHopeful = true
      return
    }
    for (const other of this.#lines.values()) {
      if (other.choice !== line.choice) continue
      other.disappoint(place)
      if (other !== line) other.isHopeful = other.last > place
    }
  }

  /** No request is turned away because a name was not known yet. Returns true if the names have changed. */
  async #learn(): Promise<boolean> {
    const { names } = this.#deps
    const { version } = names
    await this.#refresh()
    return names.version !== version
  }

  /** Position of the first waiter of any other hopeful line behind this one. */
  #nextHead(served: WaitingLine): number {
    let head = Number.POSITIVE_INFINITY
    for (const line of this.#lines.values()) {
      if (line !== served && line.isHopeful && line.head > served.head) head = Math.min(head, line.head)
    }
    return head
  }

  #request(demand: Demand, limit: number): LeaseRequest {
    const { queue, names, limits, maxRescues } = this.#deps
    const { queues, priority, leaseMs, owner, pattern, keys } = demand
    const rest = { queues, priority, limit, leaseMs, owner, maxRescues, queueLimits: queue.settings.queueLimits }
    if (this.#news !== null && demand.names === null) {
      return { ...rest, jobs: limits.ofDefined(pattern, keys), others: keys }
    }
    // Given names do not change.
    const version = demand.names === null ? names.version : 0
    return { ...rest, jobs: limits.of(pattern, version, () => names.matching(demand)) }
  }

  async #refresh(): Promise<void> {
    const { queue, names, maxRescues } = this.#deps
    const places = this.#places
    this.#isStale = false
    if (this.#clock.now() >= this.#reapAt) {
      this.#reapAt = this.#clock.now() + reapEveryMs
      await queue.backend.reap(maxRescues)
    }
    if (this.#news !== null) {
      await this.#news.notify([...this.#lines.values()], this.#clock.now())
      return
    }
    const news = await names.refresh()
    this.#knownPlace = places
    for (const line of this.#lines.values()) if (!line.isHopeful && line.wants(news)) line.isHopeful = true
  }

  /** Sleeps until a job falls due, or until it is time to poll for changes that were not notified. */
  #sleep(hasFound: boolean): void {
    if (this.#lines.size === 0 || this.#stopping.signal.aborted) return
    const now = this.#clock.now()
    let ms = this.#looks.pauseMs(hasFound)
    for (const { nextAt, refusedUntil } of this.#lines.values()) {
      if (nextAt !== null) ms = Math.min(ms, Math.max(1, nextAt - now))
      if (refusedUntil > now) ms = Math.min(ms, refusedUntil - now)
    }
    this.#timer = this.#clock.timer(ms, () => {
      this.#isStale = true
      const at = this.#clock.now()
      if (this.#news === null)
        for (const line of this.#lines.values()) if (line.nextAt !== null && line.nextAt <= at) line.isHopeful = true
      this.#look()
    })
  }
}

const nothing = { leases: [], nextAt: null, cancelled: [] } as const
