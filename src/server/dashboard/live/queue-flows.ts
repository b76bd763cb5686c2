import { type Clock, stopwatchOf, type Timer } from '../../../core/time/clock.ts'
import type { JobCount, JobStore } from '../../../queue/contract/store.ts'
import type { Snapshots } from './snapshots.ts'

const minuteMs = 60_000
const sampleMs = 5_000
/** Sampling takes at most one part in this many of the time. */
const restFactor = 50
const keptFlowsMs = 5 * minuteMs

export interface QueueFlow {
  /** Jobs per minute that entered, and that ended. */
  readonly in: number
  readonly out: number
}

export interface QueueFlowsDeps {
  readonly store: JobStore
  readonly snapshots: Snapshots
  readonly clock: Clock
}

/**
 * How many jobs enter and leave each queue, measured as the change of the maintained counters. Bounded, and kept only
 * in memory.
 */
export class QueueFlows {
  readonly #deps: QueueFlowsDeps
  readonly #flows = new Map<string, (QueueFlow & { readonly at: number })[]>()
  #last: ReadonlyMap<string, JobCount> | null = null
  /** The last counts of all jobs together, and when they were last seen unchanged. */
  #sums = ''
  #quietAt = 0
  #timer: Timer | null = null
  #isClosed = false

  constructor(deps: QueueFlowsDeps) {
    this.#deps = deps
    this.#next(0)
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  /** Over the last five minutes, or the part of them that was sampled; null before two samples. */
  of(queue: string): QueueFlow | null {
    const seen = this.#flows.get(queue)
    const first = seen?.[0]
    const last = seen?.at(-1)
    if (seen === undefined || first === undefined || last === undefined) return null
    const end = Math.max(last.at, this.#quietAt)
    const start = Math.max(first.at, end - keptFlowsMs)
    if (end <= start) return null
    const minutes = (end - start) / minuteMs
    const recent = seen.slice(1).filter(({ at }) => at >= start)
    const sum = recent.reduce((total, each) => ({ in: total.in + each.in, out: total.out + each.out }), { in: 0, out: 0 })
    return { in: sum.in / minutes, out: sum.out / minutes }
  }

  #next(delayMs: number): void {
    if (this.#isClosed) return
    this.#timer = this.#deps.clock.timer(delayMs, () => void this.#sample(), { unref: true })
  }

  async #sample(): Promise<void> {
    const elapsed = stopwatchOf(this.#deps.clock)
    try {
      await this.#compare()
    } catch {
      // The queue does not answer: the page says so, and the next sample is compared with the last good one.
    }
    this.#next(Math.max(sampleMs, restFactor * elapsed()))
  }

  async #compare(): Promise<void> {
    const { store, snapshots, clock } = this.#deps
    const sums = JSON.stringify(await store.counts({ isSum: true }))
    // While nothing changes, the number of names and queues does not affect the cost.
    if (sums === this.#sums) {
      this.#quietAt = clock.now()
      return
    }
    this.#sums = sums
    const byPair = new Map((await snapshots.counts()).map((count) => [`${count.queue}\n${count.job}`, count]))
    const last = this.#last
    this.#last = byPair
    if (last === null) return
    const flows = new Map<string, { in: number; out: number }>()
    for (const [key, count] of byPair) {
      const flow = flowBetween(last.get(key), count)
      const sum = flows.get(count.queue) ?? { in: 0, out: 0 }
      flows.set(count.queue, { in: sum.in + flow.in, out: sum.out + flow.out })
    }
    this.#keep(flows, clock.now())
  }

  #keep(flows: ReadonlyMap<string, QueueFlow>, now: number): void {
    for (const [queue, flow] of flows) {
      const seen = (this.#flows.get(queue) ?? []).filter(({ at }) => at >= now - keptFlowsMs)
      seen.push({ at: now, ...flow })
      this.#flows.set(queue, seen)
    }
    for (const queue of this.#flows.keys()) if (!flows.has(queue)) this.#flows.delete(queue)
  }
}

/** Jobs deleted by retention between two samples are not counted. */
function flowBetween(before: JobCount | undefined, { counts: after }: JobCount): QueueFlow {
  const grown = (state: keyof typeof after) => Math.max(0, after[state] - (before?.counts[state] ?? 0))
  const out = grown('succeeded') + grown('dead') + grown('cancelled') + grown('skipped')
  const living = livingOf(after)
  const lived = before === undefined ? 0 : livingOf(before.counts)
  return { in: Math.max(0, living - lived + out), out }
}

function livingOf({ ready, scheduled, blocked, running }: JobCount['counts']): number {
  return ready + scheduled + blocked + running
}
