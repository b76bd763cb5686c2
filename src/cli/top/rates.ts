import { finalStates } from '../../queue/contract/job-state.ts'
import { totalsByQueue } from '../../queue/contract/queue-counts.ts'
import type { JobCount } from '../../queue/contract/store.ts'

/** Jobs per minute that entered a queue, and that ended. */
export interface Flow {
  readonly in: number
  readonly out: number
}

interface Sample {
  readonly at: number
  readonly queues: ReadonlyMap<string, { readonly living: number; readonly ended: number }>
}

/** Rates cover the last minute. */
const windowMs = 60_000

/**
 * How many jobs enter and leave each queue, measured as the change of the maintained counters. Jobs deleted by
 * retention in between are not counted.
 */
export class Rates {
  #samples: readonly Sample[] = []

  add(counts: readonly JobCount[], now: number): void {
    const queues = new Map(
      [...totalsByQueue(counts)].map(([queue, { counts: states }]) => {
        const ended = finalStates.reduce((sum, state) => sum + states[state], 0)
        return [queue, { ended, living: states.ready + states.scheduled + states.blocked + states.running }]
      }),
    )
    this.#samples = [...this.#samples.filter(({ at }) => at >= now - windowMs && at <= now), { at: now, queues }]
  }

  /** Null before there are two samples to compare. */
  of(queue: string): Flow | null {
    const [first] = this.#samples
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.at <= first.at) return null
    let [came, went] = [0, 0]
    for (const [index, sample] of this.#samples.entries()) {
      const before = this.#samples[index - 1]?.queues.get(queue)
      const after = sample.queues.get(queue)
      if (index === 0 || after === undefined) continue
      const ended = Math.max(0, after.ended - (before?.ended ?? 0))
      went += ended
      came += Math.max(0, after.living - (before?.living ?? 0) + ended)
    }
    const minutes = (last.at - first.at) / 60_000
    return { in: came / minutes, out: went / minutes }
  }

  /** For all queues together. */
  total(): Flow | null {
    const queues = [...(this.#samples.at(-1)?.queues.keys() ?? [])].map((queue) => this.of(queue))
    if (queues.length === 0 || queues.includes(null)) return null
    return queues.reduce<Flow>((sum, flow) => ({ in: sum.in + (flow?.in ?? 0), out: sum.out + (flow?.out ?? 0) }), {
      in: 0,
      out: 0,
    })
  }
}
