import { fileURLToPath } from 'node:url'
import type { BedrockJob } from '../client/bedrock/job.ts'
import { messageOf } from '../core/errors.ts'
import { ownFile } from '../core/files/own-file.ts'
import { nodeBinary, processId, workingFolder } from '../core/process/environment.ts'
import { parseExact, writeExact } from '../core/text/exact-json.ts'
import type { Json } from '../core/text/json.ts'
import type { Clock } from '../core/time/clock.ts'
import { formatDuration } from '../core/time/duration.ts'
import { type ChildExit, runChild } from '../handlers/child.ts'
import { retryExitCode } from './exit-codes.ts'
import { findWorker, type WorkerFile } from './worker-file.ts'

/** The outcome of a job, as far as its worker knows. */
export type WorkerEnd =
  | { readonly kind: 'finished'; readonly data: JsonObject | undefined }
  | { readonly kind: 'retried'; readonly delaySeconds: number; readonly data: JsonObject | undefined }
  /** A bare one leaves the data of the job as it is. */
  | { readonly kind: 'failed'; readonly error: string; readonly isBare?: true }
  | { readonly kind: 'returned' }

export type JsonObject = { readonly [key: string]: Json }

export interface RunSettings {
  readonly folder: string
  /** The names that it may start. */
  readonly pattern: string
  readonly timeLimitMs: number
  readonly env: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Kills the worker; its job is returned to the queue. */
  readonly abort: AbortSignal
}

const maxOutput = 2 * 1024 * 1024
const killAfterMs = 5_000
const maxQuoted = 2_000
const defaultDelaySeconds = 60

/** Runs the worker of a job in its own process. Never throws. */
export async function runWorker(job: BedrockJob, settings: RunSettings): Promise<WorkerEnd> {
  const { timeLimitMs, clock, abort } = settings
  const worker = await findWorker(settings.folder, job.name, settings.pattern)
  if (worker.kind === 'none') return { kind: 'failed', error: worker.problem }
  const late = new AbortController()
  const timer = clock.timer(timeLimitMs, () => late.abort())
  try {
    return endOf(await runProcess(worker, job, settings, AbortSignal.any([late.signal, abort])))
  } catch (thrown) {
    if (late.signal.aborted) return { kind: 'failed', error: `it took longer than ${formatDuration(timeLimitMs)} and was ended` }
    return abort.aborted ? { kind: 'returned' } : { kind: 'failed', error: messageOf(thrown) }
  } finally {
    timer.cancel()
  }
}

type Runnable = Exclude<WorkerFile, { readonly kind: 'none' }>

function runProcess(worker: Runnable, job: BedrockJob, { env, clock }: RunSettings, signal: AbortSignal): Promise<ChildExit> {
  const own = [String(job.jobID), job.name]
  const argv =
    worker.kind === 'module' ? [nodeBinary(), moduleEntry(), worker.path, String(processId()), ...own] : [worker.path, ...own]
  return runChild(argv, `${writeExact(job)}\n`, { cwd: workingFolder(), env, maxOutput, killAfterMs, clock }, signal)
}

function moduleEntry(): string {
  return fileURLToPath(ownFile('manager/module-entry.js'))
}

function endOf({ exitCode, signal, stdout, stderr }: ChildExit): WorkerEnd {
  const said = lastObject(stdout)
  if (exitCode === 0) return { kind: 'finished', data: said }
  if (exitCode === retryExitCode) return { kind: 'retried', ...retryOf(said) }
  const how = exitCode === null ? `its worker was ended by ${signal}` : `its worker exited with code ${exitCode}`
  const lastWords = stderr.trim().slice(-maxQuoted)
  return { kind: 'failed', error: lastWords === '' ? how : `${how}: ${lastWords}` }
}

/** The last line of the output, if it is a JSON object. */
function lastObject(stdout: string): JsonObject | undefined {
  const text = stdout.trimEnd()
  const line = text.slice(text.lastIndexOf('\n') + 1).trim()
  if (!line.startsWith('{')) return undefined
  try {
    return parseExact(line) as JsonObject
  } catch {
    return undefined
  }
}

function retryOf(said: JsonObject | undefined): { delaySeconds: number; data: JsonObject | undefined } {
  const { delay, data } = said ?? {}
  const isDelay = typeof delay === 'number' && delay >= 0 && delay < 100_000_000
  const isData = typeof data === 'object' && data !== null && !Array.isArray(data)
  return { delaySeconds: isDelay ? Math.ceil(delay) : defaultDelaySeconds, data: isData ? (data as JsonObject) : undefined }
}
