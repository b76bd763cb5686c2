import { inspect } from 'node:util'
import { CommanderError } from 'commander'
import { type ErrorCode, messageOf, TreadleError } from '../core/errors.ts'
import { masked } from '../core/text/masking.ts'
import { visibleJson } from '../core/text/visible.ts'
import { exitCodes } from './exit-codes.ts'
import { visible } from './output/text.ts'

/** A mistake in how the command was called. Keeps the library's error code if the library found it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code: ErrorCode | 'USAGE'

  constructor(message: string, code: ErrorCode | 'USAGE' = 'USAGE', options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The user pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  override readonly message = 'interrupted'
}

export interface Failure {
  readonly code: string
  readonly message: string
  readonly exitCode: number
}

/** The message for the user about anything that was thrown, and the exit code. */
export function failureOf(thrown: unknown): Failure {
  const message = messageOf(thrown)
  if (thrown instanceof UsageError) return { code: thrown.code, message, exitCode: exitCodes.usage }
  if (thrown instanceof CommanderError) return { code: 'USAGE', message: withoutPrefix(message), exitCode: exitCodes.usage }
  if (thrown instanceof Interrupted) return { code: 'INTERRUPTED', message, exitCode: exitCodes.interrupted }
  if (thrown instanceof TreadleError) return { code: thrown.code, message, exitCode: exitCodeOf(thrown.code) }
  return { code: 'FAILED', message, exitCode: exitCodes.failed }
}

export function failureText(
  failure: Failure,
  thrown: unknown,
  options: { readonly json: boolean; readonly verbose: boolean },
): string {
  const { code, message } = failure
  const stack = options.verbose ? masked(inspect(thrown)) : undefined
  if (options.json) return visibleJson(JSON.stringify({ error: { code, message, ...(stack === undefined ? {} : { stack }) } }))
  const line = `treadle: ${visible(message).replaceAll(/\s*\n\s*/g, ' ')} [${code}]`
  return stack === undefined ? line : `${line}\n${visible(stack)}`
}

function exitCodeOf(code: ErrorCode): number {
  switch (code) {
    case 'RUN_NOT_FOUND':
    case 'JOB_UNKNOWN':
    case 'SCHEDULE_UNKNOWN':
    case 'DATABASE_NOT_FOUND':
    case 'KEY_UNKNOWN':
      return exitCodes.notFound
    case 'SCHEDULER_LOCKED':
      return exitCodes.locked
    default:
      return exitCodes.failed
  }
}

function withoutPrefix(message: string): string {
  return message.replace(/^error: /, '')
}
