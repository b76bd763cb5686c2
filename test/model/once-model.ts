import type { ModelJob, ModelQueue } from './model-queue.ts'

/** Idempotency keys in their plainest form: who claimed each one in which run, and which are kept until when. */
export class OnceModel {
  readonly #queue: ModelQueue
  readonly #claims = new Map<string, { readonly id: string; readonly run: string | null }>()
  readonly #kept = new Map<string, number>()

  constructor(queue: ModelQueue) {
    this.#queue = queue
  }

  claim(key: string, id: string, now: number): 'claimed' | 'busy' | 'done' {
    if ((this.#kept.get(key) ?? 0) > now) return 'done'
    const holder = this.#holderOf(key)
    if (holder !== undefined && holder.id !== id) return 'busy'
    const job = this.#queue.jobs.get(id)
    if (job?.state === 'running') this.#claims.set(key, { id, run: job.token })
    return 'claimed'
  }

  /** The key that the current run of a job has claimed, where it has one. */
  keyOf(job: ModelJob): string | undefined {
    return [...this.#claims.keys()].find((key) => this.#holderOf(key) === job)
  }

  /** Of a run that has ended well under the key. */
  keep(key: string, until: number): void {
    this.#kept.set(key, until)
  }

  /** A key belongs to a run until its lease has ended, and the children that it waits for. */
  #holderOf(key: string): ModelJob | undefined {
    const claim = this.#claims.get(key)
    const job = claim === undefined ? undefined : this.#queue.jobs.get(claim.id)
    const isHeld = job?.state === 'running' || job?.state === 'blocked'
    return isHeld && job.lastToken === claim?.run ? job : undefined
  }
}
