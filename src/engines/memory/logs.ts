import {
  exceeds,
  extentWith,
  keptFrom,
  type LogBounds,
  type LogChunk,
  type LogStore,
  noLog,
  type PlacedLogChunk,
  placeChunk,
  type StoredLogChunk,
} from '../../queue/contract/stores/log-store.ts'
import type { StoredJob } from '../../queue/rules/jobs/job.ts'
import type { Jobs } from '../../queue/rules/jobs/jobs.ts'
import type { Immediate } from './guarded.ts'

/** What jobs have logged, kept as long as the job itself. */
export class MemoryLogs implements Immediate<LogStore> {
  readonly #jobs: Jobs
  readonly #chunks = new WeakMap<StoredJob, readonly PlacedLogChunk[]>()

  constructor(jobs: Jobs) {
    this.#jobs = jobs
  }

  /** What a job has logged, for moving it to another queue. */
  of(job: StoredJob): readonly PlacedLogChunk[] {
    return this.#chunks.get(job) ?? []
  }

  restore(job: StoredJob, chunks: readonly PlacedLogChunk[]): void {
    if (chunks.length > 0) this.#chunks.set(job, chunks)
  }

  append(chunks: readonly LogChunk[], bounds: LogBounds): void {
    for (const chunk of chunks) this.#append(chunk, bounds)
  }

  read(id: string, after: number, limit: number): readonly StoredLogChunk[] {
    const job = this.#jobs.get(id)
    const chunks = job === undefined ? [] : (this.#chunks.get(job) ?? [])
    return chunks
      .filter(({ last }) => last > after)
      .slice(0, limit)
      .map(({ attempt, first, last, text }) => ({ attempt, first, last, text }))
  }

  #append(chunk: LogChunk, bounds: LogBounds): void {
    const job = this.#jobs.get(chunk.id)
    if (job === undefined) return
    const before = this.#chunks.get(job) ?? []
    const extent = before.reduce(extentWith, noLog)
    const placed = placeChunk(chunk, extent)
    const all = [...before, placed]
    const total = extentWith(extent, placed)
    const from = exceeds(total, bounds) ? keptFrom(all, total, bounds) : 0
    this.#chunks.set(
      job,
      all.filter(({ first }) => first >= from),
    )
  }
}
