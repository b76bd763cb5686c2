import type { Created, Job, JobChange, JobCopy, JobFilter, JobLog, JobPage, JobSummary, NewJob, Why } from '../api/job-shapes.ts'
import type { CallOptions, Calls } from './calling.ts'

/** Options for creating a job over HTTP. */
export interface CreateOptions extends CallOptions {
  /** For a day, a repeat with the same key creates nothing and returns the same jobs. */
  readonly idempotencyKey?: string
}

export class JobCalls {
  readonly #calls: Calls

  constructor(calls: Calls) {
    this.#calls = calls
  }

  /** When this resolves, the job is on the server's disk. */
  create(job: NewJob, { idempotencyKey, ...options }: CreateOptions = {}): Promise<Created> {
    return this.#calls.call('createJob', { ...options, body: job, headers: keyHeader(idempotencyKey) })
  }

  /** Creates all of them, or none if one is refused. */
  async createMany(jobs: readonly NewJob[], { idempotencyKey, ...options }: CreateOptions = {}): Promise<readonly Created[]> {
    const made = await this.#calls.call('createJobs', { ...options, body: { jobs }, headers: keyHeader(idempotencyKey) })
    return made.jobs
  }

  get(id: string, options?: CallOptions): Promise<Job> {
    return this.#calls.call('getJob', { ...options, params: { id } })
  }

  /** A page of jobs, newest first. */
  list(filter: JobFilter = {}, options?: CallOptions): Promise<JobPage> {
    return this.#calls.call('listJobs', { ...options, query: filter })
  }

  /** All jobs, page by page. */
  async *all(filter: JobFilter = {}, options?: CallOptions): AsyncGenerator<JobSummary, void, undefined> {
    for (let page = await this.list(filter, options); ; ) {
      yield* page.jobs
      const before = page.next === null ? null : new URLSearchParams(page.next.slice(page.next.indexOf('?'))).get('before')
      if (before === null) return
      page = await this.list({ ...filter, before }, options)
    }
  }

  /** A part of its log: the lines after this one, oldest first. */
  logs(id: string, { after = 0 }: { readonly after?: number } = {}, options?: CallOptions): Promise<JobLog> {
    return this.#calls.call('getJobLog', { ...options, params: { id }, query: { after } })
  }

  /** Stops jobs with this key from being claimed, in all queues. */
  async pause(job: string, options?: CallOptions): Promise<void> {
    await this.#calls.call('pauseJobs', { ...options, params: { job } })
  }

  async resume(job: string, options?: CallOptions): Promise<void> {
    await this.#calls.call('resumeJobs', { ...options, params: { job } })
  }

  /** Works only while the job waits. */
  change(id: string, change: JobChange, options?: CallOptions): Promise<Job> {
    return this.#calls.call('changeJob', { ...options, params: { id }, body: change })
  }

  /** Cancels a waiting job; asks the worker of a running one to stop. */
  async cancel(id: string, options?: CallOptions): Promise<'cancelled' | 'requested'> {
    return (await this.#calls.call('cancelJob', { ...options, params: { id } })).outcome
  }

  /** Puts an ended job back into the queue. */
  retry(id: string, options?: CallOptions): Promise<Job> {
    return this.#calls.call('retryJob', { ...options, params: { id } })
  }

  /** Runs a job again as a new one, with the same payload or another one. Returns the id of the copy. */
  async copy(id: string, change: JobCopy = {}, options?: CallOptions): Promise<string> {
    return (await this.#calls.call('copyJob', { ...options, params: { id }, body: change })).id
  }

  /** Works only while the job waits or after it has ended. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#calls.call('deleteJob', { ...options, params: { id } })
  }

  /** Explains what keeps it from running. */
  why(id: string, options?: CallOptions): Promise<Why> {
    return this.#calls.call('explainJob', { ...options, params: { id } })
  }
}

function keyHeader(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { 'idempotency-key': key }
}
