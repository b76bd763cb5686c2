import { type JobState, jobStates, zeroCounts } from '../../../queue/contract/job-state.ts'
import { isOverall, summedCounts } from '../../../queue/contract/queue-counts.ts'
import type { CountOptions, JobCount } from '../../../queue/contract/store.ts'
import { readTime } from '../../../queue/model/spoilt.ts'
import type { RedisServer } from '../connections/server.ts'
import { readLane } from '../units/head.ts'
import { pairsOf } from './jobs.ts'

/** Maximum number of commands per round trip. */
const mostAtOnce = 1_000

/** Returns counts. They are maintained with every change, so an answer costs only as much as it returns. */
export class Counting {
  readonly #server: RedisServer

  constructor(server: RedisServer) {
    this.#server = server
  }

  async counts(options: CountOptions = {}): Promise<readonly JobCount[]> {
    if (isOverall(options)) return [await this.#sum()]
    const counts = await this.#byPlace(options)
    return options.isSum === true ? [summedCounts(counts, options)] : counts
  }

  async #byPlace({ oldest = false, queue, job }: CountOptions): Promise<readonly JobCount[]> {
    const counts = await this.#counts(queue, job)
    if (!oldest) return counts
    const waiting = counts.filter((each) => each.counts.ready > 0)
    const ages = await this.#oldest(waiting)
    const byPlace = new Map(waiting.map((each, index) => [each, ages[index] ?? null]))
    return counts.map((each) => ({ ...each, oldestReadyAt: byPlace.get(each) ?? null }))
  }

  /** Those of these jobs that have ready jobs, regardless of limits. */
  async readyOf(names: readonly string[]): Promise<readonly string[]> {
    const jobs = [...new Set(names)]
    const open = await this.#ask(jobs.map((job) => ['EXISTS', `o:${job}`] as const))
    const isOpen = new Set(jobs.filter((_, index) => open[index] === 1))
    const closed = jobs.filter((job) => !isOpen.has(job))
    const places = await this.#placesOf(closed)
    const ready = await this.#ask(places.map(({ queue, job }) => ['HGET', `n:${queue}`, `${job}\nready`] as const))
    const isHeld = new Set(places.filter((_, index) => ready[index] != null).map(({ job }) => job))
    return jobs.filter((job) => isOpen.has(job) || isHeld.has(job))
  }

  async #sum(): Promise<JobCount> {
    const [flat] = (await this.#ask([['HGETALL', 'ns']])) as [Flat]
    const counts = zeroCounts()
    for (const [state, count] of pairsOf(flat)) counts[state as JobState] = Number(count) || 0
    return { queue: '', job: '', counts }
  }

  async #counts(queue: string | undefined, job: string | undefined): Promise<readonly JobCount[]> {
    if (job !== undefined) return this.#ofPlaces(queue === undefined ? await this.#placesOf([job]) : [{ queue, job }])
    if (queue !== undefined) return this.#ofQueues([queue])
    const [queues] = (await this.#ask([['HKEYS', 'nq']])) as [string[]]
    return this.#ofQueues(queues)
  }

  async #placesOf(jobs: readonly string[]): Promise<readonly Place[]> {
    const queues = await this.#ask(jobs.map((job) => ['HKEYS', `nj:${job}`] as const))
    return jobs.flatMap((job, index) => (queues[index] as string[]).map((queue) => ({ queue, job })))
  }

  async #ofPlaces(places: readonly Place[]): Promise<readonly JobCount[]> {
    const found = await this.#ask(
      places.map(({ queue, job }) => ['HMGET', `n:${queue}`, ...jobStates.map((state) => `${job}\n${state}`)] as const),
    )
    return places.flatMap((place, index) => {
      const counts = zeroCounts()
      for (const [at, state] of jobStates.entries()) counts[state] = Number((found[index] as (string | null)[])[at]) || 0
      return jobStates.some((state) => counts[state] > 0) ? [{ ...place, counts }] : []
    })
  }

  async #ofQueues(queues: readonly string[]): Promise<readonly JobCount[]> {
    const found = (await this.#ask(queues.map((queue) => ['HGETALL', `n:${queue}`] as const))) as Flat[]
    return queues.flatMap((queue, index) => {
      const byJob = new Map<string, Record<JobState, number>>()
      for (const [name, count] of pairsOf(found[index] ?? [])) {
        const [job = '', state] = name.split('\n')
        if (!jobStates.includes(state as JobState)) continue
        const counts = byJob.get(job) ?? zeroCounts()
        counts[state as JobState] = Number(count) || 0
        byJob.set(job, counts)
      }
      return [...byJob].map(([job, counts]) => ({ queue, job, counts }))
    })
  }

  /** Since when the oldest ready job of each of these has been waiting. */
  async #oldest(places: readonly Place[]): Promise<readonly (number | null)[]> {
    const lanes = (await this.#ask(places.map(({ queue, job }) => ['SMEMBERS', `w:${queue}\n${job}`] as const))) as string[][]
    const firsts = await this.#ask(lanes.flat().map((lane) => firstOf(lane)))
    const ages: (number | null)[] = []
    let next = 0
    for (const of of lanes) {
      const answers = firsts.slice(next, next + of.length)
      next += of.length
      ages.push(earliest(answers))
    }
    return ages
  }

  async #ask(commands: readonly (readonly [string, string, ...string[]])[]): Promise<readonly unknown[]> {
    const answers: unknown[] = []
    for (let start = 0; start < commands.length; start += mostAtOnce) {
      answers.push(...(await this.#server.all(commands.slice(start, start + mostAtOnce))))
    }
    return answers
  }
}

type Flat = readonly string[] | Readonly<Record<string, string>>

interface Place {
  readonly queue: string
  readonly job: string
}

function earliest(answers: readonly unknown[]): number | null {
  const times = answers.flatMap((answer) => readTime(Number((answer as string[])[1] ?? Number.NaN)) ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

function firstOf(lane: string): readonly [string, string, ...string[]] {
  return ['ZRANGE', readLane(lane).isGrouped ? `gf:${lane}` : `r:${lane}`, '0', '0', 'WITHSCORES']
}
