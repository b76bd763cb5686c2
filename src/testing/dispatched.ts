import { AssertionError } from 'node:assert'
import type { Treadle } from '../app/treadle.ts'
import { TreadleError } from '../core/errors.ts'
import type { ChildClass, DefinedJob } from '../definition/dispatching/workflow.ts'
import type { JobRecord } from '../queue/contract/store.ts'
import { jobOf } from './given-job.ts'
import { everyRecord } from './records.ts'

/** A dispatched job with its JSON parsed. */
export interface DispatchedJob<Payload = unknown> extends Omit<JobRecord, 'payload' | 'result' | 'progress'> {
  readonly payload: Payload
  readonly result: unknown
  readonly progress: unknown
}

/** A job, given by its key, its builder, its definition or its class; all but the key determine the type of the payload. */
export type DispatchableJob<Payload> = string | DefinedJob<Payload, unknown> | ChildClass<Payload, unknown>

/** Selects among the dispatched jobs. */
export type DispatchPredicate<Payload> = (payload: Payload, job: DispatchedJob<Payload>) => boolean

/**
 * The dispatched jobs of one name or of all, in the order of dispatch, whether or not they have run since. Leaves out jobs
 * created by schedules, and jobs that have ended and were not kept.
 */
export async function dispatched<Payload = unknown>(
  jobs: Treadle,
  job?: DispatchableJob<Payload>,
): Promise<readonly DispatchedJob<Payload>[]> {
  const filter = job === undefined ? {} : { job: keyOf(jobs, job) }
  const found: DispatchedJob<Payload>[] = []
  for await (const record of everyRecord(await jobs.store(), filter)) {
    if (record.schedule === null) found.push(opened(record))
  }
  return found.reverse()
}

/** Throws unless a matching job was dispatched; returns the matching jobs. The message lists what was dispatched instead. */
export async function assertDispatched<Payload = unknown>(
  jobs: Treadle,
  job: DispatchableJob<Payload>,
  predicate?: DispatchPredicate<Payload>,
): Promise<readonly DispatchedJob<Payload>[]> {
  const found = fitting(await dispatched(jobs, job), predicate)
  if (found.length > 0) return found
  return fail(
    `"${keyOf(jobs, job)}" was not dispatched${predicate === undefined ? '' : ' with such a payload'}`,
    await dispatched(jobs),
  )
}

/** Throws if a matching job was dispatched. */
export async function assertNotDispatched<Payload = unknown>(
  jobs: Treadle,
  job: DispatchableJob<Payload>,
  predicate?: DispatchPredicate<Payload>,
): Promise<void> {
  const found = fitting(await dispatched(jobs, job), predicate)
  if (found.length === 0) return
  const key = keyOf(jobs, job)
  fail(`"${key}" was dispatched${predicate === undefined ? '' : ' with such a payload'}, and should not have been`, found)
}

function keyOf(jobs: Treadle, job: DispatchableJob<never>): string {
  if (typeof job === 'string') return job
  if (typeof job !== 'function') return jobOf(job, 'dispatched').job
  const keys = jobs.definitions().flatMap((definition) => (definition.handlerClass === job ? [definition.job] : []))
  if (keys.length > 1)
    throw new TreadleError('JOB_UNKNOWN', `The class handles several jobs (${keys.join(', ')}): name the one that is meant`)
  return keys[0] ?? jobOf(job, 'dispatched').job
}

function fitting<Payload>(
  found: readonly DispatchedJob<Payload>[],
  predicate: DispatchPredicate<Payload> | undefined,
): readonly DispatchedJob<Payload>[] {
  return predicate === undefined ? found : found.filter((record) => predicate(record.payload, record))
}

/** The type of the payload is not checked at run time, as with handlers. */
function opened<Payload>(record: JobRecord): DispatchedJob<Payload> {
  const { payload, result, progress } = record
  return { ...record, payload: JSON.parse(payload) as Payload, result: openedText(result), progress: openedText(progress) }
}

function openedText(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}

const mostListed = 20
const longestPayload = 200

function fail(what: string, instead: readonly DispatchedJob[]): never {
  const lines = instead.slice(-mostListed).map(({ job, state, payload }) => `  ${job} ${shortened(payload)} (${state})`)
  const left = instead.length - lines.length
  const heading = instead.length === 0 ? 'Nothing was dispatched.' : `Dispatched${left > 0 ? `, after ${left} others` : ''}:`
  throw new AssertionError({ message: [`${what}.`, heading, ...lines].join('\n'), stackStartFn: fail })
}

function shortened(payload: unknown): string {
  const text = JSON.stringify(payload)
  return text.length > longestPayload ? `${text.slice(0, longestPayload)}…` : text
}
