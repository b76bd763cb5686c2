import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { defaultExport, loadModule } from '../app/module-loader.ts'
import type { BedrockJob } from '../client/bedrock-job.ts'
import { TreadleError } from '../core/errors.ts'
import { endOwnProcess, isParent } from '../core/process/environment.ts'
import { toJson } from '../core/text/json.ts'
import { systemClock } from '../core/time/clock.ts'
import { retryExitCode } from './exit-codes.ts'

/** What a process runs that was started for one job: `module-entry.js FILE MANAGER JOBID NAME`, with the job as JSON on its input. */
const [, , path = '', manager = ''] = process.argv
const maxDataBytes = 1024 * 1024
const parentCheckMs = 1_000
endWithParent(Number(manager))
await run(path)

/** Without its manager nobody would hear how the job ends: another one does it again. */
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
    // Something must be the last line, or one that the worker has printed would be taken for its result.
    say(isObject(result) ? result : null)
    exit(0)
  } catch (thrown) {
    fail(thrown)
  }
}

/** What Node can load by itself is loaded faster so. */
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

/** With what was written, whatever the worker has left open. */
function exit(code: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
