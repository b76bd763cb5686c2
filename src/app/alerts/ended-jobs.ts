import type { JobCount } from '../../queue/contract/store.ts'
import type { AlertFacts, Ended } from './alert-rules.ts'

interface Sample {
  readonly at: number
  readonly byPair: ReadonlyMap<string, Ended>
}

type Pair = Pick<JobCount, 'queue' | 'job'>

/**
 * How many jobs ended recently, computed from changes of the stored counters. Jobs deleted by retention in between are not
 * counted.
 */
export class EndedJobs {
  readonly #longestMs: number
  #last: ReadonlyMap<string, Ended> | null = null
  /** The jobs that ended between two evaluations. */
  #samples: readonly Sample[] = []
  #pairs = new Map<string, Pair>()

  constructor(longestMs: number) {
    this.#longestMs = longestMs
  }

  add(counts: readonly JobCount[], now: number): void {
    const totals = new Map(counts.map((count) => [keyOf(count), { succeeded: count.counts.succeeded, dead: count.counts.dead }]))
    const last = this.#last
    this.#last = totals
    this.#pairs = new Map(counts.map(({ queue, job }) => [keyOf({ queue, job }), { queue, job }]))
    if (last === null) return
    const grown = new Map<string, Ended>()
    for (const [key, after] of totals) {
      const before = last.get(key) ?? { succeeded: 0, dead: 0 }
      const ended = {
        succeeded: Math.max(0, after.succeeded - before.succeeded),
        dead: Math.max(0, after.dead - before.dead),
      }
      if (ended.succeeded + ended.dead > 0) grown.set(key, ended)
    }
    this.#samples = [...this.#samples.filter(({ at }) => at > now - this.#longestMs && at <= now), { at: now, byPair: grown }]
  }

  /** Discards all samples, so that the next counters are not compared with outdated ones. */
  forget(): void {
    this.#last = null
    this.#samples = []
  }

  readonly within = (now: number): AlertFacts['endedIn'] => {
    return (ms, fits) => {
      let [succeeded, dead] = [0, 0]
      for (const { at, byPair } of this.#samples) {
        if (at <= now - ms) continue
        for (const [key, ended] of byPair) {
          const pair = this.#pairs.get(key)
          if (pair === undefined || !fits(pair)) continue
          succeeded += ended.succeeded
          dead += ended.dead
        }
      }
      return { succeeded, dead }
    }
  }
}

function keyOf({ queue, job }: Pair): string {
  return `${queue}\n${job}`
}
