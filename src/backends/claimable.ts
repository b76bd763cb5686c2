import type { ClaimableJob } from './contract.ts'

/** A worker asks for the same jobs at each claim, often for thousands of them: what is made of the list is made once. */
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
  if (some.length !== others.length) return false
  return some.every(({ job, concurrency }, index) => job === others[index]?.job && concurrency === others[index]?.concurrency)
}
