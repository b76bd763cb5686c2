import { type FinalState, zeroCounts } from '../../../queue/contract/job-state.ts'
import { type Rules, rulesOver } from '../../../queue/rules/assembly.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import { Jobs } from '../../../queue/rules/jobs/jobs.ts'
import { type KeptOnce, OnceKeys } from '../../../queue/rules/keys/once-keys.ts'
import { type LastingKey, UniqueKeys } from '../../../queue/rules/keys/unique-keys.ts'
import type { Edges } from '../../../queue/rules/workflows/edges.ts'
import { newLinks, type StoredLinks } from '../../../queue/rules/workflows/links.ts'
import { type Tree, Trees } from '../../../queue/rules/workflows/trees.ts'
import { LoadedMap } from '../../../queue/units/loaded-map.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { readToken } from '../rows/lease-token.ts'
import { LoadedJob } from './loaded-job.ts'
import { LoadedEdges, type LoadedPlace, loadedPlace, newPlace } from './loaded-links.ts'
import type { LoadedRows } from './loaded-rows.ts'
import { type Need, needs } from './needs.ts'

/**
 * The part of the queue that one transaction has loaded, in the form that the rules use. If a rule needs more, `Missing` is thrown;
 * its changes are found by comparison afterwards.
 */
export class LoadedQueue {
  readonly rows: LoadedRows
  readonly now: number
  readonly rules: Rules
  readonly loaded = new Map<string, LoadedJob>()
  readonly places = new Map<string, LoadedPlace>()
  readonly byId: LoadedMap<string, StoredJob>
  readonly lasting: LoadedMap<string, LastingKey>
  readonly marks = new Map<string, KeptOnce>()
  readonly edges: LoadedEdges
  readonly #lanes: Lanes

  constructor(rows: LoadedRows, lanes: Lanes, now: number) {
    this.rows = rows
    this.now = now
    this.#lanes = lanes
    this.byId = new LoadedMap((id) => this.#load(id))
    this.lasting = new LoadedMap((index) => lastingOf(index, rows))
    this.edges = new LoadedEdges(rows)
    this.rules = rulesOver(
      {
        jobs: new Jobs({
          byId: this.byId,
          byNumber: new LoadedMap((number) => this.#jobWith(rows.numbered(number))),
          byToken: new HeldTokens(this.byId),
          uniqueKeys: new UniqueKeys(new LoadedMap((index) => this.#holderOf(index)), this.lasting),
        }),
        // A key is held by a lease, and so it is released with the lease.
        once: new OnceKeys({ marks: this.marks }),
        edges: this.edges,
        trees: (jobs, edges) => new LoadedTrees(this, jobs, edges),
      },
      { now: () => now },
      { notify: () => {} },
    )
  }

  job(id: string): StoredJob | undefined {
    return this.byId.get(id)
  }

  /** Has all of these loaded at once. */
  want(wanted: readonly Need[]): void {
    this.rows.want(wanted)
  }

  addPlace(job: StoredJob, links: StoredLinks): void {
    const place = newPlace(job.envelope.id, links, this.rows, this.edges)
    this.places.set(job.envelope.id, place)
    job.links = place.links
  }

  #jobWith(id: string | null): StoredJob | undefined {
    return id === null ? undefined : this.job(id)
  }

  /** Only its id matters, so a job that is not loaded is not locked for it. */
  #holderOf(index: string): StoredJob | undefined {
    const { living } = this.rows.key(index)
    if (living === undefined) return undefined
    return this.byId.isKnown(living) ? this.job(living) : ({ envelope: { id: living } } as StoredJob)
  }

  #load(id: string): StoredJob | undefined {
    const row = this.rows.job(id)
    if (row === null) return undefined
    const job = new LoadedJob(row, this.#lanes.get(row.lane), this.rows)
    const place = this.rows.place(id)
    if (place !== undefined) {
      const loaded = loadedPlace(place, this.rows, this.edges)
      this.places.set(id, loaded)
      job.links = loaded.links
    } else if (job.state === 'blocked') job.links = placeless(id)
    this.loaded.set(id, job)
    this.rules.jobs.adopt(job)
    return job
  }
}

/** A blocked job without a stored place in a workflow waits for nothing, and only a user can end it. */
function placeless(id: string): StoredLinks {
  return Object.assign(newLinks(id, null, 0), { givesUpAt: Number.POSITIVE_INFINITY })
}

function lastingOf(index: string, rows: LoadedRows): LastingKey | undefined {
  const { lasting } = rows.key(index)
  return lasting === undefined ? undefined : { index, ...lasting, slot: -1 }
}

/** Running jobs by token. A token names its job; the claim in it tells whether it is that of the current lease. */
class HeldTokens extends Map<string, StoredJob> {
  readonly #byId: Map<string, StoredJob>

  constructor(byId: Map<string, StoredJob>) {
    super()
    this.#byId = byId
  }

  override get(text: string): StoredJob | undefined {
    const token = readToken(text)
    const job = token === undefined ? undefined : this.#byId.get(token.id)
    return job?.token != null && readToken(job.token)?.claim === token?.claim ? job : undefined
  }

  override set(): this {
    return this
  }

  override delete(): boolean {
    return false
  }

  override *values(): MapIterator<StoredJob> {
    for (const job of this.#byId.values()) if (job.state === 'running') yield job
  }
}

/** How deleted jobs ended is counted when they are written. */
class LoadedTrees extends Trees {
  readonly #queue: LoadedQueue

  constructor(queue: LoadedQueue, jobs: Jobs, edges: Edges) {
    super(jobs, edges)
    this.#queue = queue
  }

  override add(job: StoredJob, links: StoredLinks): void {
    this.#queue.addPlace(job, links)
  }

  override forget(_job: StoredJob & { readonly links: StoredLinks }, _state: FinalState | null): void {}

  protected override treeOf(root: string): Tree | undefined {
    const ids = this.#queue.rows.members(root)
    this.#queue.want(needs('job', ids))
    return { jobs: new Set(ids.flatMap((id) => this.#queue.job(id) ?? [])), gone: zeroCounts() }
  }
}
