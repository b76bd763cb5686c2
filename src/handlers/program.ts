import { resolve } from 'node:path'
import { TreadleError } from '../core/errors.ts'
import { refuseUnknownOptions } from '../core/options.ts'
import { environmentVariable, workingFolder } from '../core/process/environment.ts'
import { shown } from '../core/text/shown.ts'
import { type Clock, systemClock } from '../core/time/clock.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'
import { type HandlerFunction, restricted } from '../definition/handler.ts'
import { outputOf } from '../definition/job-logger.ts'
import { type ChildExit, type ChildSettings, runChild } from './child.ts'
import { permanent } from './permanent.ts'

/** A program and its arguments, or a function that creates them from the payload. */
export type Argv<Payload> = readonly string[] | ((payload: Payload) => readonly string[])

/** Options of `shell` and `command`. */
export interface ProgramOptions {
  /** Working folder of the program. Default: that of the worker. */
  readonly cwd?: string
  /** Environment variables to add. From the worker's environment, the program inherits only PATH, HOME, LANG, TZ and TMPDIR. */
  readonly env?: Readonly<Record<string, string>>
  /** `'payload'` writes the payload as JSON to the program's standard input. Otherwise the input is empty. */
  readonly input?: 'payload'
  /** Maximum number of bytes to keep of stdout and of stderr; the last ones are kept. Default: 64 KiB. */
  readonly maxOutput?: number
  /** How long an aborted program may take to exit before it is killed. Default: 5 seconds. */
  readonly killAfter?: Duration
  readonly clock?: Clock
}

/** The result of a program that exited with code 0. */
export interface ProgramResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** A handler that runs a program, which only queues whose allowlist names the job may run. */
export type ProgramHandler<Payload> = HandlerFunction<Payload, ProgramResult> & { readonly [restricted]: true }

/** The program ran and failed. The message ends with the last lines of its stderr. */
export class ProgramError extends TreadleError {
  /** Null if a signal ended the program. */
  readonly exitCode: number | null
  readonly stderr: string

  constructor(program: string, exit: ChildExit) {
    const how = exit.exitCode === null ? `was ended by ${exit.signal}` : `exited with code ${exit.exitCode}`
    const lastWords = exit.stderr.trim().slice(-maxQuoted)
    super('PROGRAM_FAILED', `"${program}" ${how}${lastWords === '' ? '' : `: ${lastWords}`}`)
    this.name = 'ProgramError'
    this.exitCode = exit.exitCode
    this.stderr = exit.stderr
  }
}

const maxQuoted = 1_000
const inherited = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR']

/** The basis of `shell` and `command`. `toRun` turns the given arguments into those that are started. */
export function programHandler<Payload>(
  what: string,
  argv: Argv<Payload>,
  options: ProgramOptions,
  toRun: (argv: readonly string[], cwd: string) => readonly string[] | Promise<readonly string[]>,
): ProgramHandler<Payload> {
  // Checked first: who passes a program and its arguments separately learns that they are one list.
  const argvOf =
    typeof argv === 'function' ? (payload: Payload) => madeArgv(what, argv(payload)) : constantly(checkedArgv(what, argv))
  const settings = settingsOf(what, options)
  const handler: HandlerFunction<Payload, ProgramResult> = async (payload, context) => {
    const given = argvOf(payload)
    const input = options.input === 'payload' ? JSON.stringify(payload ?? null) : ''
    const exit = await runChild(await toRun(given, settings.cwd), input, settings, context.signal, outputOf(context.logger))
    if (exit.exitCode !== 0) throw new ProgramError(given[0] as string, exit)
    return { exitCode: exit.exitCode, stdout: exit.stdout, stderr: exit.stderr }
  }
  return Object.assign(handler, { [restricted]: true } as const)
}

function settingsOf(what: string, options: ProgramOptions): ChildSettings {
  refuseUnknownOptions(options, ['cwd', 'env', 'input', 'maxOutput', 'killAfter', 'clock'], what)
  const { cwd = '', env = {}, input, maxOutput = 65_536, killAfter = '5s', clock = systemClock } = options
  const problems = [
    ...(isText(cwd) ? [] : ['cwd must be the path of a folder']),
    ...environmentProblems(env),
    ...(input === undefined || input === 'payload' ? [] : [`input must be 'payload' or left out, got ${shown(input)}`]),
    ...(Number.isSafeInteger(maxOutput) && maxOutput >= 1
      ? []
      : [`maxOutput must be a whole number of at least 1, got ${shown(maxOutput)}`]),
  ]
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `${what}: ${problems.join('; ')}`)
  const killAfterMs = parseDuration(killAfter, `${what}: killAfter`)
  return { cwd: resolve(workingFolder(), cwd), env: { ...inheritedEnvironment(), ...env }, maxOutput, killAfterMs, clock }
}

function environmentProblems(env: unknown): readonly string[] {
  if (typeof env !== 'object' || env === null) return ['env must be an object of strings']
  return Object.entries(env)
    .filter(([name, value]) => name === '' || name.includes('=') || !isText(name) || !isText(value))
    .map(([name]) => `env: ${JSON.stringify(name)} is not a variable with a text as its value`)
}

function inheritedEnvironment(): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const name of inherited) {
    const value = environmentVariable(name)
    if (value !== undefined) environment[name] = value
  }
  return environment
}

/** Not retried: another attempt would produce the same arguments from the same payload. */
function madeArgv(what: string, argv: unknown): readonly string[] {
  try {
    return checkedArgv(what, argv)
  } catch (thrown) {
    throw thrown instanceof TreadleError ? permanent(thrown) : thrown
  }
}

function checkedArgv(what: string, argv: unknown): readonly string[] {
  if (Array.isArray(argv) && argv.every(isText) && argv.length > 0 && argv[0] !== '') return [...argv]
  const wanted = 'a list of texts without NUL characters that begins with the program'
  throw new TreadleError('HANDLER_INVALID', `${what} needs ${wanted}, such as ['gzip', 'report.csv']`)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

function constantly<Value>(value: Value): () => Value {
  return () => value
}
