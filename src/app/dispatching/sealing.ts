import { type Answer, answerOf, type Steps, wait } from '../../core/answer.ts'
import { messageOf, TreadleError } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { digest } from '../../core/text/digest.ts'
import { toJson } from '../../core/text/json.ts'
import { shown } from '../../core/text/shown.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { parseInstant } from '../../core/time/instant.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { type DispatchOptions, dispatchOptionNames } from '../../definition/dispatching/dispatch.ts'
import { noPayload } from '../../definition/dispatching/draft.ts'
import { waitProblem } from '../../definition/dispatching/workflow.ts'
import { type Meta, metaProblem, travellingMeta } from '../../definition/meta.ts'
import { countProblem, keyProblem, queueProblem } from '../../definition/names.ts'
import { deliveryProblems } from '../../definition/policies/delivery.ts'
import { priorityNumber, priorityProblem } from '../../definition/policies/priority.ts'
import { dispatchedUniqueness, type Uniqueness } from '../../definition/policies/uniqueness.ts'
import type { Recurrence } from '../../definition/recurrence.ts'
import { type Schema, validated } from '../../definition/schema.ts'
import { distinctTags, type Tags, tagsProblem } from '../../definition/tags.ts'
import {
  type Delivery,
  type Envelope,
  type Identity,
  type Links,
  type Stamp,
  stamp,
  stampOf,
  type WaitLink,
} from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { ScopedJob } from '../../envelope/keys/key-scope.ts'
import { parentMarkOf } from '../../envelope/parent-mark.ts'
import { sealLateDependency } from '../../envelope/result-seal.ts'
import { waitMark } from '../../envelope/wait-mark.ts'
import { distinctWaits } from '../../queue/rules/workflows/waiting.ts'
import { dispatchedDependencies } from './dispatched-dependencies.ts'

export interface SealingDeps {
  readonly now: () => number
  readonly newId: () => string
  readonly keys: KeyRing | null
  /** Whether to encrypt payloads if neither the dispatch nor the definition specifies it. */
  readonly encrypts?: boolean
  /** Metadata added to all of these jobs. The metadata of the plan takes precedence. */
  readonly carried?: Meta
}

/** A validated and serialized payload with the keys derived from it. It cannot cause later steps to fail. */
export interface WrittenPayload {
  readonly text: string
  readonly uniqueKey: string | null
  readonly idempotencyKey: string | null
  readonly group: string | null
}

/** Validates the payload if the definition has a schema. Only then may the answer be a promise. */
export function writePayload(plan: Plan, given: unknown, maxBytes: number): Answer<WrittenPayload> {
  const { job } = plan
  const { input, args } = plan.definition.fields
  const value = given === noPayload ? args : given
  const text = toJson(value, { what: `payload of "${job}"`, maxBytes })
  return input === null ? withKeys(plan, value, text) : answerOf(checkedPayload(plan, input, text))
}

/** Derives keys from the value that the handler will receive. If a schema transforms the payload, that differs from the input. */
function* checkedPayload(plan: Plan, input: Schema, text: string): Steps<WrittenPayload> {
  const checked = validated(input, JSON.parse(text), `payload of "${plan.job}"`, 'PAYLOAD_INVALID')
  return withKeys(plan, yield* wait(checked), text)
}

function withKeys(plan: Plan, value: unknown, text: string): WrittenPayload {
  const { idempotencyKey, group } = plan.definition.fields
  const { job, uniqueness } = plan
  return {
    text,
    uniqueKey: uniqueness === null ? null : keyOf(uniqueness.key, value, job, uniqueness.word),
    idempotencyKey: plan.idempotencyKey === undefined ? keyOf(idempotencyKey, value, job, 'idempotencyKey') : plan.idempotencyKey,
    group: plan.group === undefined ? keyOf(group?.key ?? null, value, job, 'group') : plan.group,
  }
}

/** The definition combined with the options of a dispatch. The same for all payloads of a `dispatchMany`. */
export interface Plan {
  readonly definition: JobDefinition
  /** The key and the name of the job. Those of its definition, unless that is shared by all jobs that the program does not define. */
  readonly job: string
  readonly name: string
  readonly queue: string
  readonly priority: number
  /**
   * Null if neither the dispatch nor the definition specifies it; then it is not sent with the job. The same goes for
   * `timeoutMs`, where 0 means no limit.
   */
  readonly maxRetries: number | null
  readonly timeoutMs: number | null
  readonly meta: Meta
  readonly tags: Tags
  readonly runAt: number | null
  /** The instant that a scheduled run is for; null for a dispatch. */
  readonly occurrence: number | null
  /** The schedule that this is a run of, if the schedule was created at run time. */
  readonly recurrence?: Recurrence
  readonly uniqueness: Uniqueness | null
  /** Undefined if the definition determines the key. */
  readonly idempotencyKey: string | null | undefined
  /** Undefined if the definition determines the group. */
  readonly group: string | null | undefined
  /** When to repeat the job, in the repeat language. */
  readonly repeat: string | null
  /** Whether to encrypt the payload; null uses the setting of the instance. */
  readonly encrypt: boolean | null
  /** The jobs that this one depends on. */
  readonly waitsFor: readonly WaitLink[]
  readonly longestWaitMs: number
}

/** What is specific to one job of a plan. */
export interface Particulars {
  /** Given if the id must be known before the job is sealed. */
  readonly id?: string
  readonly place?: PlaceInWorkflow
  /** The number of the job, in backends that identify jobs by numbers. */
  readonly number?: number | null
}

/** The place of a job in a workflow. */
export interface PlaceInWorkflow extends Pick<Links, 'root' | 'parent' | 'waitsFor'> {
  /** Assigned before the envelopes are made, because they refer to each other. */
  readonly id?: string
  /** The name and queue of the parent. */
  readonly parentJob?: ScopedJob
  /** Ids of jobs in the same workflow that an existing job may replace, because they have unique keys. */
  readonly mayBeReplaced?: ReadonlySet<string>
}

export function planDispatch(definition: JobDefinition, options: DispatchOptions, now: number, job = definition.job): Plan {
  const { fields } = definition
  const queue = options.queue ?? fields.queue
  const { priority = fields.priority } = options
  const maxRetries = retriesOf(options, definition)
  const timeoutMs = timeoutOf(options, definition)
  const meta = options.meta === undefined ? fields.meta : { ...fields.meta, ...options.meta }
  const tags = options.tags === undefined ? fields.tags : taggedAlso(fields.tags, options.tags)
  const { uniqueness, problems: uniquenessProblems } = dispatchedUniqueness(options, fields.unique)
  const { waitsFor, problems: dependencyProblems } = dispatchedDependencies(options)
  const longestWaitMs = options.waitAtMost === undefined ? fields.longestWaitMs : parseDuration(options.waitAtMost, 'waitAtMost')
  const problems = [
    ...unknownOptions(options, dispatchOptionNames),
    queueProblem(queue),
    priorityProblem(priority),
    maxRetries === null ? undefined : countProblem(maxRetries, 'retries'),
    options.retries != null && options.maxRetries != null ? 'retries and maxRetries mean the same: give one of them' : undefined,
    ...deliveryProblems(
      fields.delivery,
      Number.isInteger(maxRetries) ? (maxRetries as number) + 1 : definition.fields.maxAttempts,
      false,
    ),
    typeof (options.encrypt ?? true) === 'boolean' ? undefined : `encrypt must be true or false, got ${shown(options.encrypt)}`,
    timeoutMs === 0 && options.timeout != null ? 'timeout must be more than 0 ms' : undefined,
    options.meta === undefined ? undefined : (metaProblem(options.meta) ?? metaProblem(meta)),
    options.tags === undefined ? undefined : (tagsProblem(options.tags) ?? tagsProblem(tags)),
    ...uniquenessProblems,
    ...dependencyProblems,
    waitProblem(longestWaitMs),
    options.idempotencyKey == null ? undefined : keyProblem(options.idempotencyKey, 'idempotencyKey'),
    options.group == null ? undefined : keyProblem(options.group, 'group'),
    options.delay !== undefined && options.at != null ? 'give either delay or at, not both' : undefined,
    ...(uniqueness === null ? [] : combinationProblems(uniqueness, options, waitsFor)),
  ].filter((problem) => problem !== undefined)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `Dispatch of "${job}": ${problems.join('; ')}`)
  return {
    definition,
    job,
    name: job === definition.job ? fields.name : job,
    queue,
    priority: priorityNumber(priority),
    maxRetries,
    timeoutMs,
    meta: options.meta === undefined ? meta : travellingMeta(meta),
    tags,
    runAt: runAtOf(options, now, fields.scheduledAt),
    occurrence: null,
    uniqueness,
    idempotencyKey: options.idempotencyKey,
    group: options.group,
    repeat: null,
    encrypt: options.encrypt ?? fields.encrypt,
    waitsFor,
    longestWaitMs,
  }
}

export function sealJob(planned: Plan, payload: WrittenPayload, deps: SealingDeps, particulars: Particulars = {}): Envelope {
  const plan = deps.carried === undefined ? planned : carrying(planned, deps.carried)
  const { place, number } = particulars
  const id = particulars.id ?? place?.id ?? deps.newId()
  const { keys } = deps
  if (place === undefined && plan.waitsFor.length === 0 && payload.uniqueKey === null) {
    // Most jobs have no links and no unique key, and so no marks of them.
    const delivery = deliveryOf(plan, payload, deps.now(), null, number ?? null)
    return stamp(stampFor(plan, payload.idempotencyKey, deps.encrypts ?? false, noMarks), id, payload.text, delivery, keys)
  }
  const unsealed = linksOf(plan, id, place)
  const links = unsealed === null || keys === null ? unsealed : vouched(unsealed, id, jobOf(plan), place?.parentJob, keys)
  const delivery = deliveryOf(plan, payload, deps.now(), links, number ?? null)
  const waitsFor = links === null || keys === null ? undefined : waitMark(links.waitsFor, place?.mayBeReplaced)
  const keyMark = delivery.uniqueKey === null || keys === null ? undefined : keyMarkOf(delivery.uniqueKey)
  // A job with a unique key may also become the child of other jobs.
  const parent = keys === null || keyMark !== undefined ? null : (links?.parent ?? null)
  const marks = {
    ...(waitsFor !== undefined && { waitsFor }),
    ...(keyMark !== undefined && { keyMark }),
    ...(parent !== null && { parentMark: parentMarkOf(parent) }),
  }
  return stamp(stampFor(plan, payload.idempotencyKey, deps.encrypts ?? false, marks), id, payload.text, delivery, keys)
}

/** Returns the same plan for all jobs that are sent together, so that their common part is serialized once. */
function carrying(plan: Plan, carried: Meta): Plan {
  let plans = carriers.get(carried)
  if (plans === undefined) {
    plans = new Map()
    carriers.set(carried, plans)
  }
  let made = plans.get(plan)
  if (made === undefined) {
    made = { ...plan, meta: { ...carried, ...plan.meta } }
    plans.set(plan, made)
  }
  return made
}

const carriers = new WeakMap<Meta, Map<Plan, Plan>>()

/** How the signature of a job refers to its unique key. */
export function keyMarkOf(uniqueKey: string): string {
  return digest(uniqueKey)
}

type Marks = Pick<Identity, 'waitsFor' | 'keyMark' | 'parentMark'>

const noMarks: Marks = {}

/** Jobs of the same plan share a stamp, because only their ids differ, unless a job has keys or marks of its own. */
function stampFor(plan: Plan, idempotencyKey: string | null, encrypts: boolean, marks: Marks): Stamp {
  const isItsOwn = idempotencyKey !== null || (marks !== noMarks && Object.keys(marks).length > 0)
  if (isItsOwn) return stampOf({ ...commonIdentity(plan, idempotencyKey, encrypts), ...marks })
  let known = stamps.get(plan)
  if (known === undefined) {
    known = stampOf(commonIdentity(plan, null, encrypts))
    stamps.set(plan, known)
  }
  return known
}

const stamps = new WeakMap<Plan, Stamp>()

function commonIdentity(plan: Plan, idempotencyKey: string | null, encrypts: boolean): Omit<Identity, 'id'> {
  const { job, name, queue, priority, maxRetries, timeoutMs, meta, tags, occurrence, repeat, recurrence } = plan
  const { singleInstance } = plan.definition
  const common = { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta, occurrence, repeat }
  const encrypted = plan.encrypt ?? encrypts
  const marked = encrypted ? { ...common, encrypted: true as const } : common
  const tagged = tags.length === 0 ? marked : { ...marked, tags }
  return recurrence === undefined ? tagged : { ...tagged, recurrence }
}

/** A job that only has dependencies is the root of the jobs that it creates. */
function linksOf({ waitsFor, longestWaitMs }: Plan, id: string, place: PlaceInWorkflow | undefined): Links | null {
  if (place === undefined) return waitsFor.length === 0 ? null : { root: id, parent: null, waitsFor, longestWaitMs }
  const { root, parent } = place
  return { root, parent, waitsFor: [...waitsFor, ...place.waitsFor], longestWaitMs }
}

/** Adds to each dependency what to store in case its outcome was not sealed: see `sealLateDependency`. */
function vouched(links: Links, id: string, job: ScopedJob, parentJob: ScopedJob = job, keys: KeyRing): Links {
  const { parent } = links
  const late = (waiter: string, place: number | string, of: ScopedJob) => sealLateDependency({ waiter, place }, of, keys)
  const waitsFor = distinctWaits(links.waitsFor).map((wait, place) => ({ ...wait, late: late(id, place, job) }))
  if (parent === null) return { ...links, waitsFor }
  return { ...links, waitsFor, parent: { ...parent, late: late(parent.id, parent.key, parentJob) } }
}

function jobOf({ job, queue }: Plan): ScopedJob {
  return { job, queue }
}

function deliveryOf(
  plan: Plan,
  { uniqueKey, group }: WrittenPayload,
  createdAt: number,
  links: Links | null,
  number: number | null,
): Delivery {
  const { uniqueness } = plan
  if (uniqueKey === null || uniqueness === null) {
    return { createdAt, runAt: plan.runAt ?? createdAt, uniqueKey: null, uniqueUntil: 'ended', group, links, number }
  }
  const runAt = plan.runAt ?? createdAt + (uniqueness.debounce?.quietMs ?? 0)
  const uniqueUntil = typeof uniqueness.until === 'number' ? createdAt + uniqueness.until : uniqueness.until
  return { createdAt, runAt, uniqueKey, uniqueUntil, group, links, number }
}

function taggedAlso(own: Tags, more: Tags): Tags {
  return Array.isArray(more) ? distinctTags([...own, ...more]) : own
}

type MakeKey = (payload: never) => string | null

function keyOf(make: MakeKey | null, payload: unknown, job: string, what: string): string | null {
  if (make === null) return null
  const key = madeKey(make, payload, job, what)
  if (key === null) return null
  const problem = keyProblem(key, what)
  if (problem === undefined) return key as string
  // Otherwise the job would silently lack the protection that its definition asks for.
  const advice = key === undefined ? ': its function must return null where there is no key' : ''
  throw new TreadleError('CONFIG_INVALID', `Dispatch of "${job}": ${problem}${advice}`)
}

function madeKey(make: MakeKey, payload: unknown, job: string, what: string): string | null | undefined {
  try {
    return make(payload as never)
  } catch (cause) {
    const message = `Dispatch of "${job}": the function of ${what} threw on the payload: ${messageOf(cause)}`
    throw new TreadleError('PAYLOAD_INVALID', message, { cause })
  }
}

/** Options that cannot be combined with the job's uniqueness. */
function combinationProblems(
  { debounce, onConflict }: Uniqueness,
  { delay, at }: DispatchOptions,
  waitsFor: readonly WaitLink[],
): readonly (string | undefined)[] {
  const word = debounce === null ? `onConflict ${onConflict}` : 'debounce'
  return [
    debounce !== null && (delay ?? at) != null ? 'a debounced job runs when its time has passed: give no delay or at' : undefined,
    onConflict !== 'ignore' && waitsFor.length > 0
      ? `the job that holds its unique key cannot be made to wait for others: give no dependsOn, or no ${word}`
      : undefined,
  ]
}

/** Only explicit values: whatever is sent is signed, and would override the definition of the worker. */
function retriesOf({ retries, maxRetries }: DispatchOptions, definition: JobDefinition): number | null {
  return retries ?? maxRetries ?? (definition.says('maxAttempts') ? definition.maxRetries : null)
}

const noLimitMs = 0

function timeoutOf({ timeout }: DispatchOptions, definition: JobDefinition): number | null {
  if (timeout === null) return noLimitMs
  if (timeout !== undefined) return parseDuration(timeout, 'timeout')
  const isSaid = definition.says('timeoutMs') || definition.says('maxRunningTimeMs')
  return isSaid ? (definition.deadlineMs ?? noLimitMs) : null
}

function runAtOf({ delay, at }: DispatchOptions, now: number, scheduledAt: number | null): number | null {
  if (delay !== undefined) return now + parseDuration(delay, 'delay')
  if (at === null) return null
  return at === undefined ? scheduledAt : parseInstant(at, 'at')
}
