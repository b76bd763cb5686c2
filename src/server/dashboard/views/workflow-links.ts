import type { JobLink, JobRecord, JobStore } from '../../../queue/contract/store.ts'

const mostKept = 5_000

/**
 * What the jobs of workflows wait for. Only a running job gets more to wait for, so those of all others are read once, and not
 * at every look at a workflow of hundreds of jobs.
 */
export class WorkflowLinks {
  readonly #store: Pick<JobStore, 'links'>
  readonly #known = new Map<string, readonly JobLink[]>()

  constructor(store: Pick<JobStore, 'links'>) {
    this.#store = store
  }

  async of({ id, state, attempts }: JobRecord): Promise<readonly JobLink[]> {
    if (state === 'running') return this.#store.links(id)
    const key = `${id} ${state} ${attempts}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const links = await this.#store.links(id)
    this.#known.set(key, links)
    for (const old of this.#known.keys()) if (this.#known.size > mostKept) this.#known.delete(old)
    return links
  }
}
