import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { defaultExport, loadModule } from '../app/module-loader.ts'
import type { BedrockJob } from '../client/bedrock/job.ts'
import { TreadleError } from '../core/errors.ts'
import { ownFolder } from '../core/files/own-file.ts'
import { endOwnProcess, isParent } from '../core/process/environment.ts'
import { toJson } from '../core/text/json.ts'
import { systemClock } from '../core/time/clock.ts'
import { retryExitCode, unsettledExitCode } from './exit-codes.ts'

/**
 * Entry point of a process that was started for one job: `module-entry.js FILE MANAGER JOBID NAME`, with the job as JSON on
 * stdin.
 */
const [, , path = '', manager = ''] = process.argv
const maxDataBytes = 1024 * 1024
const parentCheckMs = 1_000
endWithParent(Number(manager))
process.once('beforeExit', endUnsettled)
// Not awaited: bundlers copy this file, and their minifiers take copied files for scripts, which cannot await at their top level.
void run(path)

/** Without its manager the outcome of the job could not be reported, and the job will be run again elsewhere. */
function endWithParent(parent: number): void {
  if (!isParent(parent)) endOwnProcess()
  systemClock.timer(parentCheckMs, () => endWithParent(parent), { unref: true })
}

/** Nothing is left that could settle the promise of the worker, so its job is not done. */
function endUnsettled(): void {
  console.error('the promise that the worker returned can never be settled: nothing is left to wait for')
  process.exit(unsettledExitCode)
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
  return /\.[cm]?ts$/.test(path) ? loadModule(path) : import(/* webpackIgnore: true */ pathToFileURL(path).href)
}

function fail(thrown: unknown): void {
  if (isObject(thrown) && thrown.name === 'RetryJob') {
    say({ delay: thrown.delay, data: thrown.data })
    exit(retryExitCode)
  } else {
    console.error(withoutOwnFrames(inspect(thrown)))
    exit(1)
  }
}

/** The author of a worker can do nothing with frames of this library and of Node. */
function withoutOwnFrames(text: string): string {
  const own = ownFolder()?.href
  const isOwn = (line: string) => line.includes('(node:internal/') || (own !== undefined && line.includes(own))
  return text
    .split('\n')
    .filter((line) => !(/^ +at /.test(line) && isOwn(line)))
    .join('\n')
}

function say(value: unknown): void {
  process.stdout.write(`\n${toJson(value, { what: 'result of a worker', maxBytes: maxDataBytes })}\n`)
}

/** Exits once all output is flushed, even if the worker left handles open. */
function exit(code: number): void {
  process.off('beforeExit', endUnsettled)
  process.exitCode = code
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
