import type { BedrockClient } from '../client/bedrock/client.ts'
import type { BedrockJob, BedrockRetry } from '../client/bedrock/job.ts'
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
 * done twice. Returns false if the server rejects the report, for example because the job was ended by someone else.
 */
export async function report(job: BedrockJob, end: WorkerEnd, context: ReportingContext): Promise<boolean> {
  const { client, clock, abort, onTrouble } = context
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      await send(job, end, client)
      return true
    } catch (thrown) {
      onTrouble(`The end of job ${job.jobID} could not be reported: ${messageOf(thrown)}`)
      if (!isOutage(thrown) || abort.aborted) return false
      await pause(clock, pauseMs, abort)
    }
  }
}

function send({ jobID, data }: BedrockJob, end: WorkerEnd, client: BedrockClient): Promise<void> {
  switch (end.kind) {
    case 'finished':
      return client.finishJob(jobID, withData(end.data))
    case 'retried':
      return again(jobID, { delay: end.delaySeconds, ...withData(end.data) }, client)
    case 'returned':
      return again(jobID, { delay: 0 }, client)
    case 'failed':
      return client.failJob(jobID, { data: { ...objectOf(data), error: end.error } })
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
