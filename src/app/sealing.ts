import { distinctWaits } from '../backends/waiting.ts'
import { type Answer, answerOf, type Steps, wait } from '../core/answer.ts'
import { parseDuration } from '../core/duration.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import { parseInstant } from '../core/instant.ts'
import { toJson } from '../core/json.ts'
import { unknownOptions } from '../core/options.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { deliveryProblems } from '../definition/delivery.ts'
import { type DispatchOptions, dispatchOptionNames } from '../definition/dispatch.ts'
import { noPayload } from '../definition/draft.ts'
import { type Meta, metaProblem, travellingMeta } from '../definition/meta.ts'
import { keyProblem, queueProblem } from '../definition/names.ts'
import { priorityNumber, priorityProblem } from '../definition/priority.ts'
import { type Schema, validated } from '../definition/schema.ts'
import { waitProblem } from '../definition/teamwork.ts'
import { dispatchedUniqueness, type Uniqueness } from '../definition/uniqueness.ts'
import {
  type Delivery,
  type Envelope,
  type Identity,
  type Links,
  type Stamp,
  stamp,
  stampOf,
  type WaitLink,
} from '../envelope/envelope.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import type { ScopedJob } from '../envelope/key-scope.ts'
import { sealLateDependency } from '../envelope/result-seal.ts'
import { type WaitMark, waitMark } from '../envelope/wait-mark.ts'
import { dispatchedDependencies } from './dispatched-dependencies.ts'

export interface SealingDeps {
  readonly now: () => number
  readonly newId: () => string
  readonly keys: KeyRing | null
  /** Payloads are encrypted where neither the dispatch nor the definition says anything. */
  readonly encrypts?: boolean
}

/** A payload that is checked and written down, with the keys made of it: nothing that follows can fail because of it. */
export interface WrittenPayload {
  readonly text: string
  readonly uniqueKey: string | null
  readonly idempotencyKey: string | null
  readonly group: string | null
}

/** Checked by the schema where the definition has one; only then there may be something to wait for. */
export function writePayload(plan: Plan, given: unknown, maxBytes: number): Answer<WrittenPayload> {
  const { input, job, args } = plan.definition.fields
  const value = given === noPayload ? args : given
  const text = toJson(value, { what: `payload of "${job}"`, maxBytes })
  return input === null ? withKeys(plan, value, text) : answerOf(checkedPayload(plan, input, text))
}

/** Keys are made of what the handler will get: where a schema transforms, that is not what was given. */
function* checkedPayload(plan: Plan, input: Schema, text: string): Steps<WrittenPayload> {
  const checked = validated(input, JSON.parse(text), `payload of "${plan.definition.job}"`, 'PAYLOAD_INVALID')
  return withKeys(plan, yield* wait(checked), text)
}

function withKeys(plan: Plan, value: unknown, text: string): WrittenPayload {
  const { job, idempotencyKey, group } = plan.definition.fields
  const { uniqueness } = plan
  return {
    text,
    uniqueKey: uniqueness === null ? null : keyOf(uniqueness.key, value, job, uniqueness.word),
    idempotencyKey: plan.idempotencyKey ?? keyOf(idempotencyKey, value, job, 'idempotencyKey'),
    group: plan.group === undefined ? keyOf(group?.key ?? null, value, job, 'group') : plan.group,
  }
}

/** What the definition and the options of one dispatch come to; the same for all payloads of a `dispatchMany`. */
export interface Plan {
  readonly definition: JobDefinition
  readonly queue: string
  readonly priority: number
  readonly maxRetries: number
  readonly timeoutMs: number | null
  readonly meta: Meta
  readonly runAt: number | null
  /** The instant that a scheduled run stands for; null for a dispatch. */
  readonly occurrence: number | null
  readonly uniqueness: Uniqueness | null
  readonly idempotencyKey: string | undefined
  /** Undefined where the definition says it. */
  readonly group: string | null | undefined
  /** When it is to be done again, in the repeat language. */
  readonly repeat: string | null
  /** Whether the payload travels encrypted; null is as the instance says. */
  readonly encrypt: boolean | null
  /** The jobs that it waits for. */
  readonly waitsFor: readonly WaitLink[]
  readonly longestWaitMs: number
}

/** What a job has to itself, among all of its plan. */
export interface Particulars {
  readonly place?: PlaceInWorkflow
  /** What it is called where jobs are known by numbers. */
  readonly number?: number | null
}

/** A job's place in a workflow that is dispatched or made as a whole. */
export interface PlaceInWorkflow extends Pick<Links, 'root' | 'parent' | 'waitsFor'> {
  /** Ids are given before the envelopes are made: they name each other. */
  readonly id?: string
  /** What the parent is. */
  readonly parentJob?: ScopedJob
  /** Ids of jobs of the same workflow that others may come to stand for, because they have unique keys. */
  readonly mayBeReplaced?: ReadonlySet<string>
}

export function planDispatch(definition: JobDefinition, options: DispatchOptions, now: number): Plan {
  const { fields } = definition
  const { queue = fields.queue, priority = fields.priority, maxRetries = definition.maxRetries } = options
  const timeoutMs = timeoutOf(options, definition.deadlineMs)
  const meta = options.meta === undefined ? fields.meta : { ...fields.meta, ...options.meta }
  const { uniqueness, problems: uniquenessProblems } = dispatchedUniqueness(options, fields.unique)
  const { waitsFor, problems: dependencyProblems } = dispatchedDependencies(options)
  const longestWaitMs = options.waitAtMost === undefined ? fields.longestWaitMs : parseDuration(options.waitAtMost, 'waitAtMost')
  const problems = [
    ...unknownOptions(options, dispatchOptionNames),
    queueProblem(queue),
    priorityProblem(priority),
    Number.isSafeInteger(maxRetries) && maxRetries >= 0 ? undefined : `maxRetries must be a whole number, got ${maxRetries}`,
    ...deliveryProblems(fields.delivery, maxRetries + 1, false),
    typeof (options.encrypt ?? true) === 'boolean' ? undefined : `encrypt must be true or false, got ${String(options.encrypt)}`,
    timeoutMs === 0 ? 'timeout must be more than 0 ms' : undefined,
    options.meta === undefined ? undefined : (metaProblem(options.meta) ?? metaProblem(meta)),
    ...uniquenessProblems,
    ...dependencyProblems,
    waitProblem(longestWaitMs),
    options.idempotencyKey === undefined ? undefined : keyProblem(options.idempotencyKey, 'idempotencyKey'),
    options.group == null ? undefined : keyProblem(options.group, 'group'),
    options.delay !== undefined && options.at !== undefined ? 'give either delay or at, not both' : undefined,
    ...(uniqueness === null ? [] : combinationProblems(uniqueness, options, waitsFor)),
  ].filter((problem) => problem !== undefined)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `Dispatch of "${definition.job}": ${problems.join('; ')}`)
  return {
    definition,
    queue,
    priority: priorityNumber(priority),
    maxRetries,
    timeoutMs,
    meta: options.meta === undefined ? meta : travellingMeta(meta),
    runAt: runAtOf(options, now),
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

export function sealJob(plan: Plan, payload: WrittenPayload, deps: SealingDeps, { place, number }: Particulars = {}): Envelope {
  const id = place?.id ?? deps.newId()
  const links = vouched(linksOf(plan, id, place), { id, ...jobOf(plan) }, place?.parentJob ?? jobOf(plan), deps.keys)
  const delivery = deliveryOf(plan, payload, deps.now(), links, number ?? null)
  const waits = links === null || deps.keys === null ? undefined : waitMark(links.waitsFor, place?.mayBeReplaced)
  return stamp(stampFor(plan, payload.idempotencyKey, deps.encrypts ?? false, waits), id, payload.text, delivery, deps.keys)
}

/** Jobs of one plan differ in nothing but their ids, unless they have keys of their own. */
function stampFor(plan: Plan, idempotencyKey: string | null, encrypts: boolean, waitsFor: WaitMark | undefined): Stamp {
  if (waitsFor !== undefined) return stampOf({ ...commonIdentity(plan, idempotencyKey, encrypts), waitsFor })
  if (idempotencyKey !== null) return stampOf(commonIdentity(plan, idempotencyKey, encrypts))
  let known = stamps.get(plan)
  if (known === undefined) {
    known = stampOf(commonIdentity(plan, null, encrypts))
    stamps.set(plan, known)
  }
  return known
}

const stamps = new WeakMap<Plan, Stamp>()

function commonIdentity(plan: Plan, idempotencyKey: string | null, encrypts: boolean): Omit<Identity, 'id'> {
  const { definition, queue, priority, maxRetries, timeoutMs, meta, occurrence, repeat } = plan
  const { job, name } = definition.fields
  const { singleInstance } = definition
  const common = { job, name, queue, priority, maxRetries, timeoutMs, singleInstance, idempotencyKey, meta, occurrence, repeat }
  return (plan.encrypt ?? encrypts) ? { ...common, encrypted: true } : common
}

/** One that only waits for others is the root of whatever it makes itself. */
function linksOf({ waitsFor, longestWaitMs }: Plan, id: string, place: PlaceInWorkflow | undefined): Links | null {
  if (place === undefined) return waitsFor.length === 0 ? null : { root: id, parent: null, waitsFor, longestWaitMs }
  const { root, parent } = place
  return { root, parent, waitsFor: [...waitsFor, ...place.waitsFor], longestWaitMs }
}

/** Says for each job that is waited for what is to be kept where its end was not sealed: see `sealLateDependency`. */
function vouched(
  links: Links | null,
  { id, ...job }: ScopedJob & { readonly id: string },
  parentJob: ScopedJob,
  keys: KeyRing | null,
): Links | null {
  if (links === null || keys === null) return links
  const { parent } = links
  const late = (waiter: string, place: number | string, of: ScopedJob) => sealLateDependency({ waiter, place }, of, keys)
  const waitsFor = distinctWaits(links).map((wait, place) => ({ ...wait, late: late(id, place, job) }))
  if (parent === null) return { ...links, waitsFor }
  return { ...links, waitsFor, parent: { ...parent, late: late(parent.id, parent.key, parentJob) } }
}

function jobOf({ definition, queue }: Plan): ScopedJob {
  return { job: definition.job, queue }
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

type MakeKey = (payload: never) => string | null

function keyOf(make: MakeKey | null, payload: unknown, job: string, what: string): string | null {
  if (make === null) return null
  const key = madeKey(make, payload, job, what)
  if (key === null) return null
  const problem = keyProblem(key, what)
  if (problem === undefined) return key as string
  // A job without the protection that its definition speaks of would go unnoticed.
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

/** What can not be said together with how a dispatch is kept from being there twice. */
function combinationProblems(
  { debounce, onConflict }: Uniqueness,
  { delay, at }: DispatchOptions,
  waitsFor: readonly WaitLink[],
): readonly (string | undefined)[] {
  const word = debounce === null ? `onConflict ${onConflict}` : 'debounce'
  return [
    debounce !== null && (delay ?? at) !== undefined
      ? 'a debounced job runs when its time has passed: give no delay or at'
      : undefined,
    onConflict !== 'ignore' && waitsFor.length > 0
      ? `the job that holds its unique key can not be told to wait for others: give no dependsOn, or no ${word}`
      : undefined,
  ]
}

function timeoutOf({ timeout }: DispatchOptions, definedMs: number | null): number | null {
  if (timeout === undefined) return definedMs
  return timeout === null ? null : parseDuration(timeout, 'timeout')
}

function runAtOf({ delay, at }: DispatchOptions, now: number): number | null {
  if (delay !== undefined) return now + parseDuration(delay, 'delay')
  return at === undefined ? null : parseInstant(at, 'at')
}
