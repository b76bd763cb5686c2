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
} from '../../queue/contract/log-store.ts'
import type { StoredJob } from '../../queue/rules/jobs/job.ts'
import type { Jobs } from '../../queue/rules/jobs/jobs.ts'

export interface MemoryLogsParts {
  readonly jobs: Jobs
  /** Throws when the backend is closed. */
  readonly checkOpen: () => void
}

/** What jobs have logged, kept as long as the job itself. */
export class MemoryLogs implements LogStore {
  readonly #parts: MemoryLogsParts
  readonly #chunks = new WeakMap<StoredJob, readonly PlacedLogChunk[]>()

  constructor(parts: MemoryLogsParts) {
    this.#parts = parts
  }

  /** What a job has logged, for moving it to another queue. */
  of(job: StoredJob): readonly PlacedLogChunk[] {
    return this.#chunks.get(job) ?? []
  }

  restore(job: StoredJob, chunks: readonly PlacedLogChunk[]): void {
    if (chunks.length > 0) this.#chunks.set(job, chunks)
  }

  async append(chunks: readonly LogChunk[], bounds: LogBounds): Promise<void> {
    this.#parts.checkOpen()
    for (const chunk of chunks) this.#append(chunk, bounds)
  }

  async read(id: string, after: number, limit: number): Promise<readonly StoredLogChunk[]> {
    this.#parts.checkOpen()
    const job = this.#parts.jobs.get(id)
    const chunks = job === undefined ? [] : (this.#chunks.get(job) ?? [])
    return chunks
      .filter(({ last }) => last > after)
      .slice(0, limit)
      .map(({ attempt, first, last, text }) => ({ attempt, first, last, text }))
  }

  #append(chunk: LogChunk, bounds: LogBounds): void {
    const job = this.#parts.jobs.get(chunk.id)
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
