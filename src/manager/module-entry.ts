import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { defaultExport, loadModule } from '../app/module-loader.ts'
import type { BedrockJob } from '../client/bedrock/job.ts'
import { TreadleError } from '../core/errors.ts'
import { endOwnProcess, isParent } from '../core/process/environment.ts'
import { toJson } from '../core/text/json.ts'
import { systemClock } from '../core/time/clock.ts'
import { retryExitCode } from './exit-codes.ts'

/**
 * Entry point of a process that was started for one job: `module-entry.js FILE MANAGER JOBID NAME`, with the job as JSON on
 * stdin.
 */
const [, , path = '', manager = ''] = process.argv
const maxDataBytes = 1024 * 1024
const parentCheckMs = 1_000
endWithParent(Number(manager))
await run(path)

/** Without its manager the outcome of the job could not be reported, and the job will be run again elsewhere. */
function endWithParent(parent: number): void {
  if (!isParent(parent)) endOwnProcess()
  systemClock.timer(parentCheckMs, () => endWithParent(parent), { unref: true })
}

async function run(path: string): Promise<void> {
  const job = JSON.parse(await text(process.stdin)) as BedrockJob
  try {
    const worker = defaultExport(await load(path), path)
    if (typeof worker !== 'function') throw new TreadleError('HANDLER_INVALID', `${path} must export a function as its default`)
    const result: unknown = await worker(job.data, job)
    // Always print a last line: otherwise a line that the worker printed could be mistaken for its result.
    say(isObject(result) ? result : null)
    exit(0)
  } catch (thrown) {
    fail(thrown)
  }
}

/** Files that Node can load natively load faster this way. */
function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  return /\.[cm]?ts$/.test(path) ? loadModule(path) : import(pathToFileURL(path).href)
}

function fail(thrown: unknown): void {
  if (isObject(thrown) && thrown.name === 'RetryJob') {
    say({ delay: thrown.delay, data: thrown.data })
    exit(retryExitCode)
  } else {
    console.error(thrown)
    exit(1)
  }
}

function say(value: unknown): void {
  process.stdout.write(`\n${toJson(value, { what: 'result of a worker', maxBytes: maxDataBytes })}\n`)
}

/** Exits once all output is flushed, even if the worker left handles open. */
function exit(code: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
