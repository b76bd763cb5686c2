import { includes, type Role } from '../../client/api/roles.ts'
import { mockMark, wireNameOf } from '../bedrock/jobs/mock-jobs.ts'
import { glob } from '../jobs/glob.ts'
import type { NameChoice } from '../jobs/job-names.ts'
import type { ServerToken } from './server-token.ts'

/** The part of a job that decides who may see it. */
export interface Placed {
  readonly queue: string
  readonly job: string
}

type Limits = Pick<ServerToken, 'queues' | 'jobs'>

/** What the holder of one token may do, and with which jobs. Always the same object for the same token. */
export class Grant {
  readonly role: Role
  readonly queues: readonly string[] | null
  readonly #jobs: readonly string[] | null
  readonly #tests: readonly ((name: string) => boolean)[]

  constructor(role: Role, { queues, jobs }: Limits = {}) {
    this.role = role
    this.queues = queues ?? null
    this.#jobs = jobs === undefined ? null : typeof jobs === 'string' ? [jobs] : jobs
    this.#tests = (this.#jobs ?? []).map(glob)
  }

  may(needed: Role): boolean {
    return includes(this.role, needed)
  }

  /** Whether it is limited to some queues or some jobs. */
  get isLimited(): boolean {
    return this.queues !== null || this.#jobs !== null
  }

  get hasJobLimit(): boolean {
    return this.#jobs !== null
  }

  /** Jobs outside its limits are treated as if they did not exist. */
  sees({ queue, job }: Placed): boolean {
    return this.seesQueue(queue) && this.seesName(job)
  }

  seesQueue(queue: string): boolean {
    return this.queues === null || this.queues.includes(queue)
  }

  seesName(job: string): boolean {
    const name = wireNameOf(job)
    return this.#jobs === null || this.#tests.some((fits) => fits(name))
  }

  /**
   * Whether every job that could ever be in the queue is within its limits, so that an operation on the queue affects no other
   * jobs.
   */
  hasWholeQueue(queue: string): boolean {
    return this.#jobs === null && this.seesQueue(queue)
  }

  /** Narrows a request for jobs to what this grant allows. */
  narrowed<Choice extends NameChoice & { readonly pattern: string; readonly queues: readonly string[] | null }>(
    choice: Choice,
  ): Choice {
    if (!this.isLimited) return choice
    const { names, keys, pattern } = choice
    const queues = this.queues === null ? choice.queues : (choice.queues ?? this.queues).filter((queue) => this.seesQueue(queue))
    const isNothing = queues?.length === 0
    return {
      ...choice,
      pattern: `${JSON.stringify(this.#jobs)} ${pattern}`,
      names: isNothing ? [] : (names?.filter((name) => this.seesName(name)) ?? null),
      keys: this.#jobs === null ? keys : [...keys, { names: [], globs: this.#jobs, mark: mockMark, marked: 'matched' }],
      queues,
    }
  }
}

/** The grant of every client when no token is needed. */
export const everything = new Grant('admin')
