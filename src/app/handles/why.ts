import { TreadleError } from '../../core/errors.ts'
import { formatDuration } from '../../core/time/duration.ts'
import type { Registry } from '../../definition/registry.ts'
import { type FinalState, isFinal } from '../../queue/contract/job-state.ts'
import type { ClaimRules, Hold } from '../../queue/contract/limits.ts'
import type { JobLink, JobRecord, JobStore, Paused } from '../../queue/contract/store.ts'
import type { WorkerRecord } from '../../queue/contract/stores/worker-store.ts'
import { ClaimableJobs } from '../../worker/loop/claimable-jobs.ts'
import type { Settings } from '../config/settings.ts'
import { findWorkflow, openJobs, workflowJobs } from '../workflows/whole-workflow.ts'

/** The kinds of reasons why a job is not running. */
export type WhyRule =
  | 'ended'
  | 'running'
  | 'future'
  | 'retry'
  | 'dependency'
  | 'paused'
  | 'no-worker'
  | 'no-handler'
  | 'concurrency'
  | 'rate'
  | 'breaker'
  | 'busy'
  | 'next'

/** A reason why a job is not running. */
export interface WhyReason {
  readonly rule: WhyRule
  /** Human-readable explanation. */
  readonly message: string
  /** When this reason goes away by itself, if known. */
  readonly until: Date | null
}

/**
 * Why a job is not running, or why a workflow has not ended. All reasons apply at the same time: the queue of a job may be paused
 * while its concurrency limit is also reached.
 */
export interface Why {
  readonly id: string
  readonly job: string
  readonly state: JobRecord['state']
  readonly reasons: readonly WhyReason[]
}

/** The data that the explanation is based on. Links to jobs that the caller may not see are hidden. */
export type WhyStore = Pick<JobStore, 'get' | 'holds' | 'paused'> & {
  links(id: string): Promise<readonly (JobLink | HiddenLink)[]>
  readonly workers: Pick<JobStore['workers'], 'list'>
}

type HiddenLink = Pick<JobLink, 'kind' | 'waiting'> & { readonly isHidden: true }

interface WhyProgram {
  readonly registry: Registry
  readonly settings: Pick<Settings, 'queueLimits' | 'clock'>
}

/** Takes into account the limits of the jobs and queues that this program knows. */
export async function whyOf(id: string, store: WhyStore, { registry, settings }: WhyProgram): Promise<Why> {
  const rules = { jobs: new ClaimableJobs(null).of(registry.definitions()), queueLimits: settings.queueLimits }
  const record = await store.get(id)
  if (record === null) {
    const message = `There is no job ${id}. It never existed, or its retention period has passed (see the option keep).`
    throw new TreadleError('RUN_NOT_FOUND', message)
  }
  return { id, job: record.job, state: record.state, reasons: await reasonsOf(record, store, rules, settings.clock.now()) }
}

/** For a workflow: why the jobs that hold up the others have not ended. Null if the id is not that of a workflow. */
export async function whyWorkflow(id: string, store: JobStore, program: WhyProgram): Promise<Why | null> {
  if ((await store.get(id)) !== null) return null
  const workflow = await findWorkflow(id, store)
  if (workflow === null) return null
  const { state, tree } = workflow
  const open = openJobs(await workflowJobs(id, store))
  const told = await Promise.all(open.slice(0, mostNamed).map((job) => whyOf(job.id, store, program)))
  const reasons = told.flatMap((each) =>
    each.reasons.map((reason) => ({ ...reason, message: `"${each.job}" ${each.id}: ${reason.message}` })),
  )
  const over = { rule: 'ended', message: `all ${tree.total} of its jobs have ended, and it is ${state}`, until: null } as const
  return { id, job: 'workflow', state, reasons: reasons.length > 0 ? reasons : [over] }
}

async function reasonsOf(record: JobRecord, store: WhyStore, rules: ClaimRules, now: number): Promise<readonly WhyReason[]> {
  const { state } = record
  if (isFinal(state)) return [ended(state, record)]
  if (state === 'running') return [running(record, now)]
  const [paused, alive] = await Promise.all([store.paused(), store.workers.list()])
  const outer = [...pausedReasons(record, paused), ...workerReasons(record, alive)]
  if (state === 'blocked') return [waitReason(await store.links(record.id)), ...outer]
  if (state === 'scheduled') return [future(record, now), ...outer]
  const held = (await store.holds(record.id, rules)).map((hold) => holdReason(hold, record, now))
  const reasons = [...outer, ...held]
  return reasons.length > 0 ? reasons : [nothingInTheWay(record, capable(record, alive))]
}

function ended(state: FinalState, { reason, finishedAt, errors }: JobRecord): WhyReason {
  // The errors of a job that has succeeded are those of earlier attempts.
  const why = state === 'succeeded' ? null : (errors.at(-1)?.message ?? reason)
  const at = finishedAt === null ? '' : ` at ${new Date(finishedAt).toISOString()}`
  const again = state === 'succeeded' ? '' : '. `treadle retry` puts it back'
  return { rule: 'ended', message: `${endings[state]}${at}${why === null ? '' : `: ${why}`}${again}`, until: null }
}

const endings: Readonly<Record<FinalState, string>> = {
  succeeded: 'it succeeded',
  dead: 'it failed for good',
  cancelled: 'it was cancelled',
  skipped: 'it was skipped',
}

function running({ owner, startedAt, cancelRequested, leaseExpiresAt }: JobRecord, now: number): WhyReason {
  const lasted = startedAt === null ? '' : ` for ${formatDuration(rounded(Math.max(0, now - startedAt)))}`
  const isSilent = leaseExpiresAt !== null && leaseExpiresAt <= now
  const message = isSilent
    ? `worker ${owner} had it and sends no heartbeat; the next claim of any worker puts it back`
    : `it has been running${lasted} on worker ${owner}${cancelRequested ? ', and was asked to stop' : ''}`
  return { rule: 'running', message, until: null }
}

/** Beyond a second, milliseconds say nothing. */
function rounded(ms: number): number {
  return ms < 1_000 ? ms : Math.round(ms / 1_000) * 1_000
}

function future({ runAt, attempts, errors }: JobRecord, now: number): WhyReason {
  const until = new Date(runAt)
  if (runAt <= now) return { rule: 'future', message: 'it has just become due; the next claim of any worker takes it', until }
  const wait = `in ${formatDuration(rounded(runAt - now))}, at ${until.toISOString()}`
  if (attempts === 0) return { rule: 'future', message: `it is due ${wait}`, until }
  const last = errors.at(-1)?.message
  const message = `attempt ${attempts} failed${last === undefined ? '' : ` (${last})`}; the next one is due ${wait}`
  return { rule: 'retry', message, until }
}

/** Maximum number of jobs named in a reason. */
const mostNamed = 3

function waitReason(links: readonly (JobLink | HiddenLink)[]): WhyReason {
  const open = links.filter(({ waiting }) => waiting)
  const what = open.some(({ kind }) => kind === 'child') ? 'that it created' : 'that it depends on'
  const named = open.slice(0, mostNamed).map(nameOf)
  const more = open.length > mostNamed ? ` and ${open.length - mostNamed} more` : ''
  const message = `it waits for ${open.length === 1 ? 'a job' : `${open.length} jobs`} ${what}: ${named.join(', ')}${more}`
  return { rule: 'dependency', message, until: null }
}

function nameOf(link: JobLink | HiddenLink): string {
  if ('isHidden' in link) return 'one that is hidden from you'
  return `"${link.job ?? 'unknown'}" ${link.id} (${link.state})`
}

function pausedReasons({ queue, job }: JobRecord, { queues, jobs }: Paused): readonly WhyReason[] {
  const ofQueue = `its queue "${queue}" is paused. \`treadle resume ${queue}\` resumes it`
  const ofJob = `jobs with the key "${job}" are paused. \`treadle resume --job ${job}\` resumes them`
  const messages = [...(queues.includes(queue) ? [ofQueue] : []), ...(jobs.includes(job) ? [ofJob] : [])]
  return messages.map((message) => ({ rule: 'paused', message, until: null }))
}

function workerReasons(record: JobRecord, alive: readonly WorkerRecord[]): readonly WhyReason[] {
  if (alive.length === 0) return [{ rule: 'no-worker', message: 'no worker is running. `treadle work` starts one', until: null }]
  const able = capable(record, alive)
  if (able.length === 0) {
    const forQueue = alive.filter(({ queues }) => queues === null || queues.includes(record.queue))
    const message = forQueue.length === 0 ? notOfQueue(alive.length, record) : withoutHandler(forQueue.length, record)
    return [{ rule: 'no-handler', message, until: null }]
  }
  if (able.some(({ breaker }) => breaker === 'closed')) return []
  const message = `its workers do not claim: the circuit breaker is open in ${able.map(({ owner }) => owner).join(', ')}, because the database failed them`
  return [{ rule: 'breaker', message, until: null }]
}

function notOfQueue(workers: number, { queue }: JobRecord): string {
  return workers === 1
    ? `the only running worker takes no jobs from the queue "${queue}"`
    : `none of the ${workers} running workers takes jobs from the queue "${queue}"`
}

function withoutHandler(workers: number, { job }: JobRecord): string {
  return workers === 1
    ? `the only running worker of its queue has no handler for "${job}"`
    : `none of the ${workers} running workers of its queue has a handler for "${job}"`
}

function capable({ job, queue }: JobRecord, alive: readonly WorkerRecord[]): readonly WorkerRecord[] {
  return alive.filter(({ jobs, queues }) => jobs.includes(job) && (queues === null || queues.includes(queue)))
}

function holdReason({ rule, limit, running, until }: Hold, { job, queue, group }: JobRecord, now: number): WhyReason {
  const scope = rule.startsWith('queue')
    ? `the queue "${queue}"`
    : rule.startsWith('group')
      ? `"${job}" of the group "${group}"`
      : `"${job}"`
  const isRate = rule.endsWith('rate')
  const wait = until === null ? '' : `; the next may start in ${formatDuration(rounded(Math.max(0, until - now)))}`
  const message = isRate
    ? `the rate limit of ${scope} is used up (${limit} a window)${wait}`
    : `${scope} is at its limit: ${running ?? limit} of ${limit} run`
  return { rule: isRate ? 'rate' : 'concurrency', message, until: until === null ? null : new Date(until) }
}

function nothingInTheWay({ priority }: JobRecord, able: readonly WorkerRecord[]): WhyReason {
  const hands = able.reduce((sum, { allowed }) => sum + allowed, 0)
  const running = able.reduce((sum, each) => sum + each.running, 0)
  if (running >= hands) {
    const message = `all ${hands} slots of its workers are in use; it is ready and waits for its turn (priority ${priority})`
    return { rule: 'busy', message, until: null }
  }
  return { rule: 'next', message: 'nothing prevents it: the next claim takes it', until: null }
}
