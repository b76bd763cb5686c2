import { type ClaimableJob, isSameRate } from '../../contract/limits.ts'

/** Remembers what was made of the last list of jobs: a worker claims the same jobs each time, often thousands of them. */
export class ClaimableMemo<Made> {
  readonly #make: (jobs: readonly ClaimableJob[]) => Made
  #last: { readonly jobs: readonly ClaimableJob[]; readonly made: Made } | undefined

  constructor(make: (jobs: readonly ClaimableJob[]) => Made) {
    this.#make = make
  }

  of(jobs: readonly ClaimableJob[]): Made {
    if (this.#last === undefined || !areSame(this.#last.jobs, jobs)) this.#last = { jobs: [...jobs], made: this.#make(jobs) }
    return this.#last.made
  }
}

function areSame(some: readonly ClaimableJob[], others: readonly ClaimableJob[]): boolean {
  return some.length === others.length && some.every((each, index) => isSame(each, others[index] as ClaimableJob))
}

function isSame(a: ClaimableJob, b: ClaimableJob): boolean {
  if (a === b) return true
  if (a.job !== b.job || a.concurrency !== b.concurrency || !isSameRate(a.rate, b.rate)) return false
  if ((a.group ?? null) === null || (b.group ?? null) === null) return (a.group ?? null) === (b.group ?? null)
  return a.group?.concurrency === b.group?.concurrency && isSameRate(a.group?.rate, b.group?.rate)
}
