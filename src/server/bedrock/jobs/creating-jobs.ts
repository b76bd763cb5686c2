import { TreadleError } from '../../../core/errors.ts'
import type { DispatchOptions } from '../../../definition/dispatching/dispatch.ts'
import { plainWireMeta, withWireMeta } from '../../../envelope/bedrock-meta.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { Grant } from '../../access/grant.ts'
import { Refusal } from '../wire/refusal.ts'
import { asMock, isMock, isSameData, merged, newData, notMock } from './format/job-data.ts'
import { defaultWirePriority, priorityOf } from './format/priorities.ts'
import { repeatOf, retryAfterOf } from './format/repeats.ts'
import { isRunning, type WireJob, wireJobOf } from './format/wire-job.ts'
import { parseWireTime } from './format/wire-times.ts'
import { isLost, runsFor } from './lost-leases.ts'
import { isMockKey, mockKey } from './mock-jobs.ts'
import type { WireQueue } from './wire-queue.ts'

/** A client's request for a new job, as text. */
export interface Wish {
  readonly name: string
  readonly data?: string | undefined
  readonly firstRun?: string | undefined
  readonly repeat?: string | undefined
  readonly jobPriority?: string | undefined
  /** Counts if there is no `jobPriority`. */
  readonly priority?: string | undefined
  readonly unique?: string | undefined
  readonly overwrite?: string | undefined
  readonly parent: number | null
  readonly retryAfter?: string | undefined
  readonly isMock: boolean
}

/** A validated wish: a job to store, or one that already exists. Nothing has been written yet. */
export type Plan = ExistingPlan | NewPlan

export interface ExistingPlan {
  readonly existing: number
  /** What the wish changes of it; null if nothing. */
  readonly changes: Overwriting | null
}

interface Overwriting extends Terms, Pick<Contents, 'data'> {
  readonly id: string
  /** Its data after the change, as far as it is known now. */
  readonly result: string
}

export interface NewPlan {
  readonly wish: Wish
  readonly number: number
  readonly envelope: Envelope
  /** Id of its parent; null if it has none. */
  readonly parent: string | null
}

/**
 * Run time of a child. It is stored as held back in any case, and released once its parent is seen waiting: a parent that waits now
 * may run again before the child is stored.
 */
const endOfTime = Date.UTC(9999, 11, 31)

/** What is validated before an existing job is looked for. */
interface Contents {
  readonly data: string
  readonly retryAfter: string
  readonly isMock: boolean
  readonly parent: WireJob | null
}

/** What is validated only if something is going to be stored. */
interface Terms {
  readonly repeat: string | null
  readonly priority: number
  readonly runAt: number | null
}

const nothingPlanned: ReadonlyMap<string, string> = new Map()

/**
 * Validates everything and looks for an existing job, in the order of the public server. `planned` is the data that existing jobs
 * will have, by their ids, once the plans before this one are carried out.
 */
export async function planJob(wish: Wish, jobs: WireQueue, grant: Grant, planned = nothingPlanned): Promise<Plan> {
  const contents = await contentsOf(wish, jobs, grant)
  refuseOutside(wish, jobs, grant)
  if (wish.unique === 'true') {
    const existing = await takenUp(wish, contents, jobs, grant, planned)
    if (existing !== null) return existing
  }
  const terms = termsOf(wish, contents, jobs)
  const number = await jobs.deps.numbers.next()
  // Once it has a child, the parent no longer qualifies for the simple ending.
  const held = wish.parent === null ? undefined : jobs.handedOut.get(wish.parent)
  if (held !== undefined) held.isPlain = false
  const parent = contents.parent?.record.id ?? null
  return { wish, number, envelope: await sealed(wish, contents, terms, number, jobs), parent }
}

async function contentsOf(wish: Wish, jobs: WireQueue, grant: Grant): Promise<Contents> {
  if (isMockKey(wish.name)) throw new Refusal(402, 'Malformed name')
  if (wish.jobPriority !== undefined) priorityOf(wish.jobPriority)
  const data = newData(wish.data)
  const retryAfter = retryAfterOf(wish.retryAfter, jobs.now)
  const parent = wish.parent === null ? null : await parentOf(wish.parent, jobs, grant)
  const mock = parent === null ? wish.isMock || isMock(data) : isMock(parent.data)
  return { data: mock ? asMock(data) : notMock(data), retryAfter, isMock: mock, parent }
}

function termsOf(wish: Wish, { isMock: mock, parent }: Contents, jobs: WireQueue): Terms {
  const repeat = repeatOf(wish.repeat, jobs.now)
  const priority = priorityOf(wish.jobPriority ?? wish.priority ?? String(defaultWirePriority))
  if (parent !== null && parent.record.parent !== null) throw new Refusal(405, 'Cannot create grandchildren')
  const runAt = wish.firstRun === undefined ? null : parseWireTime(wish.firstRun, 'firstRun')
  return { repeat: mock ? null : repeat, priority, runAt }
}

/** A limited token cannot create jobs outside its limits. */
function refuseOutside({ name }: Wish, { deps }: WireQueue, grant: Grant): void {
  if (!grant.isLimited) return
  try {
    const { queue } = deps.creating.definitionOf(name).fields
    if (!grant.sees({ queue, job: name })) throw new Refusal(403, 'Forbidden')
  } catch (thrown) {
    if (thrown instanceof TreadleError) throw new Refusal(402, refusalText(thrown))
    throw thrown
  }
}

async function parentOf(number: number, jobs: WireQueue, grant: Grant): Promise<WireJob> {
  const parent = await jobs.look(number)
  if (parent === null || !grant.sees(parent.record)) throw new Refusal(404, 'parentJobID does not exist')
  if (!isRunning(parent) && parent.state !== 'PAUSED') throw new Refusal(405, parentNotRunning)
  if (!grant.may('operate') && !(await hasInHand(parent, grant, jobs))) throw new Refusal(403, 'Forbidden')
  await jobs.verified(parent.record)
  return parent
}

/** With the role `work`, a client may create children for a job that it holds, or for one that waits for a job that it holds. */
async function hasInHand(parent: WireJob, grant: Grant, jobs: WireQueue): Promise<boolean> {
  if (isRunning(parent)) return runsFor(grant, parent, jobs)
  for (const child of await jobs.children(parent.record.id)) if (await runsFor(grant, child, jobs)) return true
  return false
}

export const parentNotRunning = 'Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED'

/** The existing job of the same name, and what the client wants changed; null if there is none. */
async function takenUp(
  wish: Wish,
  contents: Contents,
  jobs: WireQueue,
  grant: Grant,
  planned: ReadonlyMap<string, string>,
): Promise<ExistingPlan | null> {
  const found = await sameNamed(contents.isMock ? mockKey(wish.name) : wish.name, jobs)
  if (found === null) return null
  const { record } = found
  if (!grant.sees(record)) throw new Refusal(403, 'Forbidden')
  const parent = contents.parent?.record.id ?? null
  if (record.parent !== null && record.parent !== parent)
    throw new Refusal(404, 'Trying to create a child that already exists, but it is tied to a different parent')
  const existing = record.number ?? (await jobs.deps.numbers.of(record.id))
  if (existing === null) return null
  const mayOverwrite = wish.overwrite === undefined || wish.overwrite === '' || wish.overwrite === 'true'
  // With the role `work`, a client may only change jobs that were handed out to it.
  const isOwn = grant.may('operate') || (await isHeldBy(grant, existing, jobs))
  const { data } = contents
  const before = planned.get(record.id) ?? record.payload
  if (isSameData(before, data) || !mayOverwrite || !isOwn) return { existing, changes: null }
  return { existing, changes: { ...termsOf(wish, contents, jobs), data, id: record.id, result: merged(before, data) } }
}

async function isHeldBy(grant: Grant, number: number, jobs: WireQueue): Promise<boolean> {
  const held = jobs.handedOut.get(number)
  return held !== undefined && held.grant === grant && !(await isLost(held, jobs))
}

/** Changes an existing job as planned. False if it has ended since it was found. */
export async function overwrite({ existing, changes }: ExistingPlan, jobs: WireQueue): Promise<boolean> {
  if (changes === null) return true
  const { id, data, repeat, priority } = changes
  return jobs.turns.alone(`${existing}`, async () => {
    const job = await jobs.byId(id)
    if (job === null) return false
    await jobs.change(job, ({ record: { payload } }) => ({ data: merged(payload, data), repeat, priority }))
    return true
  })
}

const searchedStates = ['ready', 'scheduled', 'running', 'blocked', 'dead', 'succeeded', 'cancelled'] as const
/** Maximum number of jobs to check per state: the protocol knows only some of the ended jobs. */
const searchedJobs = 100

/** The oldest one, so that repeated requests find the same job however many others have its name. */
async function sameNamed(job: string, jobs: WireQueue): Promise<WireJob | null> {
  const { store } = jobs.deps.queue.backend
  const counts = (await store.counts({ job })).filter((count) => count.job === job)
  const found: WireJob[] = []
  for (const state of searchedStates) {
    if (!counts.some((count) => count.counts[state] > 0)) continue
    // A finished job without a parent does not exist in the protocol.
    const isLinked = state === 'succeeded' ? { isLinked: true as const } : {}
    const records = await store.list({ job, state, limit: searchedJobs, ...isLinked })
    found.push(...records.map(wireJobOf).filter((each) => each !== null))
  }
  for (const each of found.toSorted(byAge)) if (await jobs.isStanding(each.record)) return each
  return null
}

function byAge({ record: a }: WireJob, { record: b }: WireJob): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}

async function sealed(wish: Wish, contents: Contents, terms: Terms, number: number, jobs: WireQueue): Promise<Envelope> {
  const { parent, retryAfter, data } = contents
  const { repeat, priority } = terms
  const runAt = terms.runAt ?? jobs.now
  const held = parent === null ? {} : { heldUntil: runAt, parent: parent.record.id }
  const meta = withWireMeta({}, { ...plainWireMeta, retryAfter, ...held })
  const isPlainMeta = Object.keys(meta).length === 0
  const at = parent === null ? terms.runAt : endOfTime
  const options: DispatchOptions = {
    priority,
    ...(at !== null && { at: new Date(at) }),
    ...(!isPlainMeta && { meta }),
    ...(wish.unique === 'true' && { unique: 'wire' }),
  }
  try {
    return await jobs.deps.creating.seal({
      job: contents.isMock ? mockKey(wish.name) : wish.name,
      payload: data,
      options,
      repeat,
      number,
      ...(parent !== null && { parent: linkTo(parent, number, jobs) }),
    })
  } catch (thrown) {
    if (thrown instanceof TreadleError) throw new Refusal(402, refusalText(thrown))
    throw thrown
  }
}

function linkTo({ record }: WireJob, number: number, { deps }: WireQueue) {
  const { longestWaitMs } = deps.creating.definitionOf(record.job).fields
  const link = { id: record.id, token: null, key: `job ${number}`, onFailure: 'ignore', longestWaitMs } as const
  return { root: record.root ?? record.id, link, job: record }
}

function refusalText({ code, message }: TreadleError): string {
  if (code === 'DEFINITION_INVALID') return 'Malformed name'
  return message
}
