import type { PatternClaims, WholeBackend } from '../../queue/contract/contract.ts'
import type { WaitingLine } from './waiting-line.ts'

/** So few lines are served each by a claim of its own, which costs no more than to ask first. */
const fewLines = 8
/** Where nothing was heard and nothing is counted that was not there before, it is asked this seldom. */
const askAgainMs = 30_000

/**
 * Tells lines of waiters that something may be there for them. It is asked for what they wait for, and never for all that there is:
 * the cost grows with what is waited for, and while nothing happens it is one look at the counters.
 */
export class LineNews {
  readonly #backend: WholeBackend
  readonly #patterns: PatternClaims
  readonly #maxRescues: number
  #isWoken = false
  #counted = ''
  #askAgainAt = 0

  constructor(backend: WholeBackend, patterns: PatternClaims, maxRescues: number) {
    this.#backend = backend
    this.#patterns = patterns
    this.#maxRescues = maxRescues
  }

  /** Something may have become ready. */
  woken(): void {
    this.#isWoken = true
  }

  async tell(lines: readonly WaitingLine[], now: number): Promise<void> {
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

  /** What has fallen due, whosever it is. */
  async #makeReady(waiting: readonly WaitingLine[]): Promise<void> {
    const nothing = { jobs: [], queues: null, limit: 0, leaseMs: 1, owner: 'server' }
    const { nextAt } = await this.#backend.lease({ ...nothing, maxRescues: this.#maxRescues })
    for (const line of waiting) line.nextAt = nextAt
  }

  /** Whether anything may have happened since it was last asked. */
  async #isNews(now: number): Promise<boolean> {
    const isWoken = this.#isWoken
    this.#isWoken = false
    const counts = await this.#backend.store.counts({ isSum: true })
    const counted = JSON.stringify(counts.map((each) => each.counts))
    const isSame = counted === this.#counted && now < this.#askAgainAt
    this.#counted = counted
    if (isSame && !isWoken) return false
    this.#askAgainAt = now + askAgainMs
    return true
  }
}
