import type { BedrockClient } from '../client/bedrock/client.ts'
import type { BedrockJob, BedrockRetry } from '../client/bedrock/job.ts'
import { BedrockRefusal } from '../client/bedrock/refusal.ts'
import { messageOf } from '../core/errors.ts'
import { type Clock, pause } from '../core/time/clock.ts'
import { isOutage } from './outage.ts'
import type { JsonObject, WorkerEnd } from './run-worker.ts'

const firstPauseMs = 1_000
const longestPauseMs = 30_000

export interface ReportingContext {
  readonly client: BedrockClient
  readonly clock: Clock
  /** Once aborted, only one attempt is made. */
  readonly abort: AbortSignal
  readonly onTrouble: (error: string) => void
}

/**
 * Reports the outcome of a job to the server and retries while the server cannot be reached: the work is done and must not be
 * done twice. Returns what was reported; null if the server rejects it, for example because the job was ended by someone else.
 */
export async function report(job: BedrockJob, end: WorkerEnd, context: ReportingContext): Promise<WorkerEnd | null> {
  const { client, clock, abort, onTrouble } = context
  let said: WorkerEnd = end
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      await send(job, said, client)
      return said
    } catch (thrown) {
      onTrouble(`The end of job ${job.jobID} could not be reported: ${messageOf(thrown)}`)
      const next = isOutage(thrown) ? said : withoutRefusedData(said, thrown)
      if (next === null || abort.aborted) return null
      if (next === said) await pause(clock, pauseMs, abort)
      said = next
    }
  }
}

/**
 * What to report if the server refuses the data that a job ended with, such as data that is too large. Otherwise the job would
 * run until its lease ends, and then once more. Null if the server refuses the end itself.
 */
function withoutRefusedData(end: WorkerEnd, thrown: unknown): WorkerEnd | null {
  if (!(thrown instanceof BedrockRefusal) || !refusalsOfData.includes(thrown.status)) return null
  if (end.kind === 'failed') return end.isBare === true ? null : { ...end, isBare: true }
  const error = `the server refuses the data that it ended with: ${thrown.status} ${thrown.reason}`
  return end.kind !== 'returned' && end.data !== undefined ? { kind: 'failed', error } : null
}

const refusalsOfData: readonly number[] = [402, 500, 502]

function send({ jobID, data }: BedrockJob, end: WorkerEnd, client: BedrockClient): Promise<void> {
  switch (end.kind) {
    case 'finished':
      return client.finishJob(jobID, withData(end.data))
    case 'retried':
      return again(jobID, { delay: end.delaySeconds, ...withData(end.data) }, client)
    case 'returned':
      return again(jobID, { delay: 0 }, client)
    case 'failed':
      return client.failJob(jobID, end.isBare === true ? {} : { data: { ...objectOf(data), error: end.error } })
  }
}

/** Retries the same run. Otherwise a repeating job would move on to its next repetition and skip this one. */
function again(jobID: number, retry: BedrockRetry, client: BedrockClient): Promise<void> {
  return client.retryJob(jobID, { ...retry, ignoreRepeat: true })
}

function withData(data: JsonObject | undefined): { readonly data?: JsonObject } {
  return data === undefined ? {} : { data }
}

function objectOf(data: unknown): JsonObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject) : {}
}
