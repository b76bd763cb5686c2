import { type Clock, stopwatchOf, type Timer } from '../../../core/time/clock.ts'
import type { JobCount, JobStore } from '../../../queue/contract/store.ts'
import type { Snapshots } from './snapshots.ts'

const minuteMs = 60_000
const sampleMs = 5_000
/** A sample takes at most this share of the time. */
const restFactor = 50
const keptFlowsMs = 5 * minuteMs

export interface QueueFlow {
  /** Jobs per minute that came, and that ended. */
  readonly in: number
  readonly out: number
}

export interface QueueFlowsDeps {
  readonly store: JobStore
  readonly snapshots: Snapshots
  readonly clock: Clock
}

/** How many jobs come into each queue and leave it, by comparing the kept counters with what they were. Bounded, and gone with the process. */
export class QueueFlows {
  readonly #deps: QueueFlowsDeps
  readonly #flows = new Map<string, (QueueFlow & { readonly at: number })[]>()
  #last: ReadonlyMap<string, JobCount> | null = null
  /** What all jobs together were last counted as, and when they last were just that. */
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

  /** Over the last five minutes, or as many of them as were seen; null before two samples. */
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
      // The queue does not answer: the page says so, and the next sample is compared with the last one that was had.
    }
    this.#next(Math.max(sampleMs, restFactor * elapsed()))
  }

  async #compare(): Promise<void> {
    const { store, snapshots, clock } = this.#deps
    const sums = JSON.stringify(await store.counts({ isSum: true }))
    // While nothing happens, it does not matter how many names and queues there are.
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

/** What retention deletes meanwhile is not counted. */
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
