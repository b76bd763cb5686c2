import type { Envelope } from '../../../envelope/envelope.ts'
import type { FinalState } from '../../../queue/contract/job-state.ts'
import { finalStates, zeroCounts } from '../../../queue/contract/job-state.ts'
import { type Rules, rulesOver } from '../../../queue/rules/assembly.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import { Jobs, type JobsState } from '../../../queue/rules/jobs/jobs.ts'
import { type KeptOnce, OnceKeys } from '../../../queue/rules/keys/once-keys.ts'
import { type LastingKey, UniqueKeys } from '../../../queue/rules/keys/unique-keys.ts'
import { Limits } from '../../../queue/rules/limits/limits.ts'
import { type Counted, Rates } from '../../../queue/rules/limits/rates.ts'
import type { StoredSchedule } from '../../../queue/rules/schedules/schedules.ts'
import type { Timeline } from '../../../queue/rules/schedules/timeline.ts'
import { Edges } from '../../../queue/rules/workflows/edges.ts'
import { newLinks, type StoredEdge, type StoredLinks } from '../../../queue/rules/workflows/links.ts'
import { type Tree, Trees } from '../../../queue/rules/workflows/trees.ts'
import { LoadedGroups } from '../../../queue/units/loaded-groups.ts'
import { LoadedMap } from '../../../queue/units/loaded-map.ts'
import { LoadedTimeline, type TailSizes } from '../../../queue/units/loaded-timeline.ts'
import { flag, type Head, headText, idOf, readHead, tokenOf } from './head.ts'
import { LoadedEdges, type LoadedPlace, LoadedTargets, loadedPlace } from './loaded-links.ts'
import { LoadedLogs } from './loaded-logs.ts'
import { LoadedOccurrences } from './loaded-timeline.ts'
import { field, jobNeeds, type Need, range } from './needs.ts'
import { ReachedLimits } from './reached-limits.ts'
import type { Rows } from './rows.ts'
import { extraOf, extraText } from './stored-extra.ts'
import { countedIn, lastingOf, markOf, textsOf } from './stored-keys.ts'
import { readSchedule } from './stored-schedule.ts'
import { bodyIn } from './stored-text.ts'

/** A job as it was when it was loaded. */
export interface LoadedJob {
  readonly job: StoredJob
  readonly head: Head
  readonly envelope: Envelope
  readonly place: LoadedPlace | null
  /** What would be written for it now. Corrupted data is left as it is until a rule changes the job. */
  readonly headText: string
  readonly extraText: string | null
  /** Whether the stored data is not what this backend writes. */
  readonly isSpoilt: boolean
}

export interface LoadedQueueOptions {
  readonly now: number
  /** The claim of the leases that this unit grants. */
  readonly claim: string
}

/**
 * The part of the queue that one unit has loaded, in the form that the rules use. If a rule needs more, `Missing` is thrown; its
 * changes are found by comparison afterwards.
 */
export class LoadedQueue {
  readonly rows: Rows
  readonly now: number
  readonly rules: Rules
  readonly loaded = new Map<string, LoadedJob>()
  readonly edges: LoadedEdges
  readonly occurrences: LoadedOccurrences
  readonly byId: LoadedMap<string, StoredJob>
  readonly living: LoadedMap<string, StoredJob>
  readonly lasting: LoadedMap<string, LastingKey>
  readonly holders: LoadedMap<string, StoredJob>
  readonly keysOf: LoadedMap<StoredJob, readonly string[]>
  readonly marks: LoadedMap<string, KeptOnce>
  readonly rates: LoadedMap<string, Counted>
  readonly byTarget: LoadedMap<string, Set<StoredEdge>>
  /** The names of the edges to each job when they were loaded. */
  readonly openBefore = new Map<string, readonly string[]>()
  readonly schedules: LoadedMap<string, StoredSchedule>
  readonly timelines: LoadedMap<string, Timeline>
  /** Jobs that were deleted, and the states in which they had ended. */
  readonly forgotten: { readonly id: string; readonly root: string; readonly state: FinalState | null }[] = []
  /** How many deleted jobs had ended in which state, for workflows that come from another queue. */
  readonly gone: { readonly root: string; readonly state: FinalState; readonly jobs: number }[] = []
  readonly logs: LoadedLogs
  /** Schedules that were moved away. */
  readonly away: LoadedMap<string, string>
  readonly groups = new LoadedGroups()
  readonly reached = new Set<string>()
  readonly freed = new Set<string>()
  /** Counts that a limit was compared with. */
  readonly counted = new Map<string, number>()
  wakes = false

  constructor(rows: Rows, { now, claim }: LoadedQueueOptions, tails: TailSizes) {
    this.rows = rows
    this.now = now
    this.edges = new LoadedEdges(rows)
    this.occurrences = new LoadedOccurrences(rows)
    this.logs = new LoadedLogs(rows)
    this.away = new LoadedMap((name) => rows.field('away', name) ?? undefined)
    this.byId = new LoadedMap((id) => this.#load(id))
    this.living = new LoadedMap((index) => this.#jobUnder('u', index))
    this.lasting = new LoadedMap((index) => lastingOf(index, rows.field('ul', index)))
    this.holders = new LoadedMap((key) => this.#jobUnder('oh', key))
    this.keysOf = new LoadedMap((job) => textsOf(rows.field('ok', job.envelope.id)))
    this.marks = new LoadedMap((key) => markOf(key, rows.field('om', key)))
    this.rates = new LoadedMap((scope) => countedIn(rows.text(`rate:${scope}`)))
    this.byTarget = new LoadedTargets(
      (id) => this.#edgesTo(id),
      (id) => rows.range(`et:${id}`).length > 0,
    )
    this.schedules = new LoadedMap((name) => readSchedule(name, rows.field('sch', name)))
    this.timelines = new LoadedMap((name) => new LoadedTimeline(name, this.occurrences, tails))
    const reached = new ReachedLimits(this.reached, this.freed)
    this.rules = rulesOver(
      {
        jobs: new LoadedJobs(this, this.#jobsState()),
        once: new OnceKeys(this),
        edges: new Edges(this.byTarget),
        trees: (jobs, edges) => new LoadedTrees(this, jobs, edges),
        limits: (jobs) => new Limits(jobs, new Rates(this.rates), reached),
        schedules: this.schedules,
        timelines: this.timelines,
        newToken: (id) => tokenOf(claim, id),
      },
      { now: () => now },
      { notify: () => this.#wake() },
    )
  }

  job(id: string): StoredJob | undefined {
    return this.rules.jobs.get(id)
  }

  /** Loads all of these at once. */
  want(ids: readonly string[]): void {
    this.rows.want(ids.flatMap(jobNeeds))
  }

  /** Like `want`; of those that are about to end, also loads the jobs that wait for them. */
  wantEnding(ids: readonly string[], ending: readonly string[] = ids): void {
    const waiting = ending.map((id) => range(`et:${id}`))
    this.rows.want([...ids.flatMap(jobNeeds), ...waiting])
    this.#wantEdges(waiting)
  }

  /** Like `want`, for jobs to be deleted: also loads what they waited for. */
  wantDeleted(ids: readonly string[]): void {
    this.want(ids)
    const linked = ids.filter((id) => this.rows.peek(field('p', id)) !== null).map((id) => range(`ew:${id}`))
    this.rows.want(linked)
    const edges = this.#wantEdges(linked)
    this.#wantEdges(edges.flatMap((name) => this.edges.get(name) ?? []).map((edge) => range(`et:${edge.id}`)))
  }

  #wantEdges(lists: readonly Need[]): readonly string[] {
    this.rows.want(lists)
    const names = lists.flatMap((list) => (this.rows.peek(list) as readonly string[] | null) ?? [])
    this.rows.want(names.map((name) => field('e', name)))
    return names
  }

  /** How many jobs run under a name, according to the stored count. */
  count(name: string): number {
    const count = Number(this.rows.peek(field('c', name)) ?? this.rows.field('c', name) ?? 0)
    this.counted.set(name, count)
    return count
  }

  #wake(): void {
    this.wakes = true
  }

  #jobsState(): Partial<JobsState> {
    return {
      byId: this.byId,
      byNumber: new LoadedMap((number) => this.#jobUnder('num', String(number))),
      byToken: new LoadedMap((token) => {
        const job = this.job(idOf(token))
        return job?.token === token ? job : undefined
      }),
      groups: this.groups,
      uniqueKeys: new UniqueKeys(this.living, this.lasting),
    }
  }

  #jobUnder(table: string, name: string): StoredJob | undefined {
    const id = this.rows.field(table, name)
    return id === null ? undefined : this.job(id)
  }

  #edgesTo(id: string): Set<StoredEdge> | undefined {
    const names = this.rows.range(`et:${id}`)
    this.openBefore.set(id, names)
    this.rows.want(names.map((name) => field('e', name)))
    const edges = names.flatMap((name) => this.edges.get(name) ?? [])
    return edges.length === 0 ? undefined : new Set(edges)
  }

  #load(id: string): StoredJob | undefined {
    const text = this.rows.head(id)
    if (text === null) return undefined
    const head = readHead(text)
    const placed = this.rows.field('p', id)
    const place = placed === null ? null : loadedPlace(placed, id, this.rows, this.edges)
    const extra = this.rows.field('x', id)
    const occurrence = this.occurrences.ofJob(head, id)
    // Spreads come last: V8 takes sixty times as long to add so many fields to a copy.
    const job: StoredJob = {
      envelope: this.#envelope(id, head),
      keyIndex: head.keyIndex,
      sentAs: head.sentAs,
      occurrence,
      // A blocked job without a stored place in a workflow waits for nothing.
      links: place?.links ?? (head.state === 'blocked' ? newLinks(id, null, 0) : null),
      ...statusOf(head, id),
      ...extraOf(extra),
    }
    const texts = { headText: headText(job, head.claim), extraText: extraText(job) }
    const isSpoilt = texts.headText !== text.slice(head.stamp.length + 1) || texts.extraText !== extra
    this.loaded.set(id, { job, head, envelope: job.envelope, place, ...texts, isSpoilt })
    this.rules.jobs.adopt(job)
    return job
  }

  /** A job's body is loaded only when it is accessed. */
  #envelope(id: string, head: Head): Envelope {
    const { rows } = this
    let body: readonly [string, string, string | null] | undefined
    const read = () => {
      body ??= bodyIn(rows.field('b', id))
      return body
    }
    const { number, job, queue, priority, singleInstance, createdAt, runAt, uniqueKey, uniqueUntil, group } = head
    return {
      id,
      number,
      job,
      queue,
      priority,
      singleInstance,
      createdAt,
      runAt,
      uniqueKey,
      uniqueUntil,
      group,
      links: null,
      get identity() {
        return read()[0]
      },
      get payload() {
        return read()[1]
      },
      get signature() {
        return read()[2]
      },
    }
  }
}

function statusOf(head: Head, id: string) {
  return {
    state: head.state,
    runAt: head.runAt,
    attempts: head.attempts,
    rescues: head.rescues,
    token: head.state === 'running' ? tokenOf(head.claim, id) : null,
    owner: head.owner,
    leaseExpiresAt: head.leaseUntil,
    cancelRequested: (head.flags & flag.cancelRequested) !== 0,
    begun: (head.flags & flag.begun) !== 0,
    amongOthers: (head.flags & flag.amongOthers) !== 0,
    startedAt: head.startedAt,
    finishedAt: head.finishedAt,
    arrival: 0,
    removed: false,
    slot: -1,
  }
}

/** Reads how many jobs run when a limit is checked; those started since are counted here. */
class LoadedJobs extends Jobs {
  readonly #queue: LoadedQueue

  constructor(queue: LoadedQueue, state: Partial<JobsState>) {
    super(state)
    this.#queue = queue
  }

  override runningOf(job: string): number {
    return this.#queue.count(`k\n${job}`) + super.runningOf(job)
  }

  override runningIn(queue: string): number {
    return this.#queue.count(`q\n${queue}`) + super.runningIn(queue)
  }
}

class LoadedTrees extends Trees {
  readonly #queue: LoadedQueue

  constructor(queue: LoadedQueue, jobs: Jobs, edges: Edges) {
    super(jobs, edges)
    this.#queue = queue
  }

  override add(job: StoredJob, links: StoredLinks): void {
    job.links = links
  }

  override forget(job: StoredJob & { readonly links: StoredLinks }, state: FinalState | null): void {
    this.#queue.forgotten.push({ id: job.envelope.id, root: job.links.root, state })
  }

  override takeOut(job: StoredJob & { readonly links: StoredLinks }): void {
    this.forget(job, null)
  }

  override addGone(root: string, state: FinalState, jobs: number): void {
    this.#queue.gone.push({ root, state, jobs })
  }

  protected override treeOf(root: string): Tree | undefined {
    const { rows } = this.#queue
    rows.want([range(`root:${root}`), ...finalStates.map((state) => field('gone', `${root}\n${state}`))])
    const ids = rows.range(`root:${root}`)
    this.#queue.want(ids)
    if (ids.length === 0) return undefined
    const gone = zeroCounts()
    for (const state of finalStates) gone[state] = Number(rows.field('gone', `${root}\n${state}`) ?? 0)
    return { jobs: new Set(ids.flatMap((id) => this.#queue.job(id) ?? [])), gone }
  }
}
