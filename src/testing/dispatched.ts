import { AssertionError } from 'node:assert'
import type { Treadle } from '../app/treadle.ts'
import type { JobRecord } from '../queue/contract/store.ts'
import { everyRecord } from './records.ts'

/** A job that was dispatched, its JSON texts opened. */
export interface DispatchedJob<Payload = unknown> extends Omit<JobRecord, 'payload' | 'result' | 'progress'> {
  readonly payload: Payload
  readonly result: unknown
  readonly progress: unknown
}

/** A job, by its key or by its builder; the part of a builder that is named here tells the type of the payload. */
export type DispatchableJob<Payload> = string | { readonly job: string; args(payload: Payload): unknown }

/** Which of the dispatched jobs are meant. */
export type DispatchPredicate<Payload> = (payload: Payload, job: DispatchedJob<Payload>) => boolean

/**
 * What was dispatched, in the order of the dispatches, of one job or of all; whether it ran meanwhile makes no difference. What a
 * schedule put into the queue is left out, and so is what ended and was not kept.
 */
export async function dispatched<Payload = unknown>(
  jobs: Treadle,
  job?: DispatchableJob<Payload>,
): Promise<readonly DispatchedJob<Payload>[]> {
  const filter = job === undefined ? {} : { job: keyOf(job) }
  const found: DispatchedJob<Payload>[] = []
  for await (const record of everyRecord(await jobs.store(), filter)) {
    if (record.schedule === null) found.push(opened(record))
  }
  return found.reverse()
}

/** Throws unless such a job was dispatched; gives those that fit. The message lists what was dispatched instead. */
export async function assertDispatched<Payload = unknown>(
  jobs: Treadle,
  job: DispatchableJob<Payload>,
  predicate?: DispatchPredicate<Payload>,
): Promise<readonly DispatchedJob<Payload>[]> {
  const found = fitting(await dispatched(jobs, job), predicate)
  if (found.length > 0) return found
  return fail(
    `"${keyOf(job)}" was not dispatched${predicate === undefined ? '' : ' with such a payload'}`,
    await dispatched(jobs),
  )
}

/** Throws if such a job was dispatched. */
export async function assertNotDispatched<Payload = unknown>(
  jobs: Treadle,
  job: DispatchableJob<Payload>,
  predicate?: DispatchPredicate<Payload>,
): Promise<void> {
  const found = fitting(await dispatched(jobs, job), predicate)
  if (found.length === 0) return
  fail(`"${keyOf(job)}" was dispatched${predicate === undefined ? '' : ' with such a payload'}, and should not have been`, found)
}

function keyOf(job: DispatchableJob<never>): string {
  return typeof job === 'string' ? job : job.job
}

function fitting<Payload>(
  found: readonly DispatchedJob<Payload>[],
  predicate: DispatchPredicate<Payload> | undefined,
): readonly DispatchedJob<Payload>[] {
  return predicate === undefined ? found : found.filter((record) => predicate(record.payload, record))
}

/** The types vouch for the payload, as they do for the handler's. */
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
