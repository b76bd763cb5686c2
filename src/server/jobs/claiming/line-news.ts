import type { PatternClaims, WholeBackend } from '../../../queue/contract/contract.ts'
import type { WaitingLine } from './waiting-line.ts'

/** Up to this many lines are each served by their own claim, which costs no more than checking first. */
const fewLines = 8
/** SQL engines look through up to 10,000 ready jobs, the others through all. */
const fewReady = 5_000
/** How often to check anyway if there was no notification and no count has changed. */
const askAgainMs = 30_000

/**
 * Tells lines of waiters that there may be jobs for them. It only queries what they wait for, never everything that exists. So
 * the cost grows with what is waited for, and while nothing happens it is one read of the counters.
 */
export class LineNews {
  readonly #backend: WholeBackend
  readonly #patterns: PatternClaims
  readonly #maxRescues: number
  #isWoken = false
  #counted = ''
  #askAgainAt = 0
  /** Number of jobs that were ready at the last check; null before the first one. */
  #ready: number | null = null

  constructor(backend: WholeBackend, patterns: PatternClaims, maxRescues: number) {
    this.#backend = backend
    this.#patterns = patterns
    this.#maxRescues = maxRescues
  }

  /** Something may have become ready. */
  woken(): void {
    this.#isWoken = true
  }

  /**
   * Whether a claim that looks through the first ready jobs finds every job that is ready. Only then may one claim stand for
   * several lines: it cannot look up what each of them waits for.
   */
  get hasFewReady(): boolean {
    return this.#ready !== null && this.#ready <= fewReady
  }

  async notify(lines: readonly WaitingLine[], now: number): Promise<void> {
    const waiting = lines.filter((line) => !line.isHopeful && !line.isEmpty)
    if (waiting.length <= fewLines) {
      for (const line of waiting) line.isHopeful = true
      return
    }
    if (waiting.some(({ nextAt }) => nextAt !== null && nextAt <= now)) await this.#makeReady(waiting)
    if (!(await this.#isNews(now))) return
    const names = new Set(waiting.flatMap(({ demand }) => demand.names ?? []))
    const ready = names.size === 0 ? [] : await this.#patterns.readyOf([...names])
    const found = new Set(ready)
    for (const line of waiting) {
      const { names } = line.demand
      if (names === null || names.some((name) => found.has(name))) line.isHopeful = true
    }
  }

  /** Makes all due jobs ready, whichever line they are for. */
  async #makeReady(waiting: readonly WaitingLine[]): Promise<void> {
    const nothing = { jobs: [], queues: null, limit: 0, leaseMs: 1, owner: 'server' }
    const { nextAt } = await this.#backend.lease({ ...nothing, maxRescues: this.#maxRescues })
    for (const line of waiting) line.nextAt = nextAt
  }

  /** Whether anything may have happened since the last check. */
  async #isNews(now: number): Promise<boolean> {
    const isWoken = this.#isWoken
    this.#isWoken = false
    const counts = await this.#backend.store.counts({ isSum: true })
    this.#ready = counts.reduce((sum, each) => sum + each.counts.ready, 0)
    const counted = JSON.stringify(counts.map((each) => each.counts))
    const isSame = counted === this.#counted && now < this.#askAgainAt
    this.#counted = counted
    if (isSame && !isWoken) return false
    this.#askAgainAt = now + askAgainMs
    return true
  }
}
