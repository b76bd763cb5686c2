import { type FinalState, type JobState, zeroCounts } from '../../../../queue/contract/job-state.ts'
import type { GoneJobs } from '../../../../queue/contract/transfer.ts'
import { type Rules, rulesOver } from '../../../../queue/rules/assembly.ts'
import type { StoredJob } from '../../../../queue/rules/jobs/job.ts'
import { Jobs } from '../../../../queue/rules/jobs/jobs.ts'
import { type KeptOnce, OnceKeys } from '../../../../queue/rules/keys/once-keys.ts'
import { type LastingKey, UniqueKeys } from '../../../../queue/rules/keys/unique-keys.ts'
import type { StoredSchedule } from '../../../../queue/rules/schedules/schedules.ts'
import type { Timeline } from '../../../../queue/rules/schedules/timeline.ts'
import type { Edges } from '../../../../queue/rules/workflows/edges.ts'
import { newLinks, type StoredLinks } from '../../../../queue/rules/workflows/links.ts'
import { type Tree, Trees } from '../../../../queue/rules/workflows/trees.ts'
import { LoadedMap } from '../../../../queue/units/loaded-map.ts'
import { LoadedTimeline } from '../../../../queue/units/loaded-timeline.ts'
import type { Lanes } from '../../lanes/lanes.ts'
import { readToken } from '../../rows/lease-token.ts'
import { keptKeyOf, type OnceRow } from '../../rows/once-row.ts'
import { definitionOf } from '../../rows/schedule-record.ts'
import type { LoadedRows } from '../reading/loaded-rows.ts'
import { type Need, needs } from '../reading/needs.ts'
import type { ScheduleRow } from '../reading/row-readers.ts'
import { LoadedJob } from './loaded-job.ts'
import { LoadedEdges, type LoadedPlace, loadedPlace, newPlace } from './loaded-links.ts'
import { LoadedLogs } from './loaded-logs.ts'
import { LoadedOccurrences } from './loaded-occurrences.ts'

/**
 * The part of the queue that one transaction has loaded, in the form that the rules use. If a rule needs more, `Missing` is thrown;
 * its changes are found by comparison afterwards.
 */
export class LoadedQueue {
  readonly rows: LoadedRows
  readonly now: number
  /** All that storing new jobs without links needs of the rules. */
  readonly jobs: Jobs
  readonly loaded = new Map<string, LoadedJob>()
  readonly places = new Map<string, LoadedPlace>()
  readonly byId: LoadedMap<string, StoredJob>
  readonly lasting: LoadedMap<string, LastingKey>
  readonly edges: LoadedEdges
  /** Idempotency keys. A key is held by a lease and released with it, so most rules need not know who holds one. */
  readonly marks: LoadedMap<string, KeptOnce>
  readonly holders: LoadedMap<string, StoredJob>
  readonly keysOf: LoadedMap<StoredJob, readonly string[]>
  readonly occurrences: LoadedOccurrences
  readonly schedules: LoadedMap<string, StoredSchedule>
  readonly timelines: LoadedMap<string, Timeline>
  /** Schedules that were moved to another queue. */
  readonly away: LoadedMap<string, string>
  readonly logs: LoadedLogs
  /** How many deleted jobs had ended in which state, for workflows that come from another queue. */
  readonly gone: GoneJobs[] = []
  readonly #lanes: Lanes
  #rules: Rules | undefined

  constructor(rows: LoadedRows, lanes: Lanes, now: number) {
    this.rows = rows
    this.now = now
    this.#lanes = lanes
    this.byId = new LoadedMap((id) => this.#load(id))
    this.lasting = new LoadedMap((index) => lastingOf(index, rows))
    this.edges = new LoadedEdges(rows)
    this.marks = new LoadedMap((key) => markOf(rows.peek('once', key)))
    this.holders = new LoadedMap((key) => this.#onceHolderOf(key))
    this.keysOf = new LoadedMap((job) => rows.peek('onceOf', job.envelope.id))
    this.occurrences = new LoadedOccurrences(rows)
    this.schedules = new LoadedMap((name) => scheduleOf(rows.get('schedule', name)))
    this.timelines = new LoadedMap((name) => new LoadedTimeline(name, this.occurrences, rows.tails))
    this.away = new LoadedMap((name) => rows.get('away', name) ?? undefined)
    this.logs = new LoadedLogs(rows)
    this.jobs = new Jobs({
      byId: this.byId,
      byNumber: new LoadedMap((number) => this.#numbered(number)),
      byToken: new HeldTokens(this.byId),
      uniqueKeys: new UniqueKeys(new LoadedMap((index) => this.#holderOf(index)), this.lasting),
    })
  }

  /** Assembled on first use, because most calls only store new jobs. */
  get rules(): Rules {
    this.#rules ??= rulesOver(
      {
        jobs: this.jobs,
        once: new OnceKeys(this),
        edges: this.edges,
        trees: (jobs, edges) => new LoadedTrees(this, jobs, edges),
        schedules: this.schedules,
        timelines: this.timelines,
      },
      { now: () => this.now },
      { notify: () => {} },
    )
    return this.#rules
  }

  /** Whether nothing but new jobs without links can have been stored: no job was loaded, and no other rule was asked. */
  get hasOnlyNewJobs(): boolean {
    return this.#rules === undefined && this.loaded.size === 0
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

  #numbered(number: number): StoredJob | undefined {
    const id = this.rows.get('number', String(number))
    return id === null ? undefined : this.#named(id)
  }

  /** Only its id matters, so a job that is not loaded is not locked for it. */
  #holderOf(index: string): StoredJob | undefined {
    const { living } = this.rows.get('key', index)
    return living === undefined ? undefined : this.#named(living)
  }

  #onceHolderOf(key: string): StoredJob | undefined {
    const row = this.rows.peek('once', key)
    return row == null || row.done_until !== null ? undefined : this.#named(row.job_id)
  }

  #named(id: string): StoredJob | undefined {
    return this.byId.isKnown(id) ? this.job(id) : ({ envelope: { id } } as StoredJob)
  }

  #load(id: string): StoredJob | undefined {
    const row = this.rows.job(id)
    if (row === null) return undefined
    const job = new LoadedJob(row, this.#lanes.get(row.lane), this.rows, this.occurrences.ofJob(row))
    const place = this.rows.place(id)
    if (place !== undefined) {
      const loaded = loadedPlace(place, this.rows, this.edges)
      this.places.set(id, loaded)
      job.links = loaded.links
    } else if (job.state === 'blocked') job.links = placeless(id)
    this.loaded.set(id, job)
    this.jobs.adopt(job)
    return job
  }
}

/** A blocked job without a stored place in a workflow waits for nothing, and only a user can end it. */
function placeless(id: string): StoredLinks {
  return Object.assign(newLinks(id, null, 0), { givesUpAt: Number.POSITIVE_INFINITY })
}

function lastingOf(index: string, rows: LoadedRows): LastingKey | undefined {
  const { lasting } = rows.get('key', index)
  return lasting === undefined ? undefined : { index, ...lasting, slot: -1 }
}

function markOf(row: OnceRow | null | undefined): KeptOnce | undefined {
  const kept = row == null ? undefined : keptKeyOf(row)
  return kept === undefined ? undefined : { ...kept, slot: -1 }
}

function scheduleOf(row: ScheduleRow | null): StoredSchedule | undefined {
  if (row === null) return undefined
  const { name, expression, timezone, version, since, paused_at } = row
  return { name, expression, timezone, version, definition: definitionOf(row), since, paused: paused_at !== null }
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

  override takeOut(): void {}

  override gone(root: string): Readonly<Record<JobState, number>> {
    const counts = this.#queue.rows.get('gone', root).map(({ state, jobs }) => [state, jobs] as const)
    return { ...zeroCounts(), ...Object.fromEntries(counts) }
  }

  override addGone(root: string, state: FinalState, jobs: number): void {
    this.#queue.gone.push({ root, state, jobs })
  }

  protected override treeOf(root: string): Tree | undefined {
    const ids = this.#queue.rows.get('members', root)
    this.#queue.want(needs('job', ids))
    return { jobs: new Set(ids.flatMap((id) => this.#queue.job(id) ?? [])), gone: zeroCounts() }
  }
}
