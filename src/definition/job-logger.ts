import { type LogFields, type LogLevel, logLevels } from '../core/logger.ts'

/** One line: a message, a message and fields, or fields (an error is one) and a message. */
export interface LogMethod {
  (message: string, fields?: LogFields): void
  (fields: object, message?: string): void
}

/**
 * The logger of a run. What it is told goes to the program's own logger and is stored with the job. It can be handed to a library that
 * wants a logger.
 */
export interface JobLogger {
  readonly debug: LogMethod
  readonly info: LogMethod
  readonly warn: LogMethod
  readonly error: LogMethod
  /** The same with these fields in every line. */
  child(fields: LogFields): JobLogger
}

/** Hears what programs and isolated handlers print in a run. */
export type OutputSink = (stream: 'stdout' | 'stderr', line: string) => void

const outputs = new WeakMap<JobLogger, OutputSink>()

/** Has what is printed in this logger's run stored with its lines. */
export function captureOutput(logger: JobLogger, sink: OutputSink): void {
  outputs.set(logger, sink)
}

/** Undefined where nobody stores it. */
export function outputOf(logger: JobLogger): OutputSink | undefined {
  return outputs.get(logger)
}

export type WriteLine = (level: LogLevel, message: string, fields: LogFields | undefined) => void

/** A logger that has each line written so. */
export function jobLogger(write: WriteLine, bound?: LogFields): JobLogger {
  const methods = Object.fromEntries(logLevels.map((level) => [level, logMethod(level, write, bound)]))
  const child = (fields: LogFields) => jobLogger(write, { ...bound, ...fields })
  return Object.freeze({ ...(methods as Pick<JobLogger, LogLevel>), child })
}

function logMethod(level: LogLevel, write: WriteLine, bound: LogFields | undefined): LogMethod {
  return (first: unknown, second?: unknown) => {
    const { message, fields } = said(first, second)
    write(level, message, bound === undefined ? fields : { ...bound, ...fields })
  }
}

function said(first: unknown, second: unknown): { readonly message: string; readonly fields: LogFields | undefined } {
  if (typeof first !== 'object' || first === null) return { message: String(first), fields: fieldsOf(second) }
  const fields = fieldsOf(first)
  if (second !== undefined) return { message: String(second), fields }
  return { message: first instanceof Error ? first.message : textOf(first), fields }
}

/** As pino does it, what is logged without fields around it is called `err`. */
function fieldsOf(value: unknown): LogFields | undefined {
  if (value === undefined || value === null) return undefined
  if (value instanceof Error) return { err: value }
  return typeof value === 'object' ? (value as LogFields) : { value }
}

function textOf(fields: object): string {
  const { msg, message } = fields as { readonly msg?: unknown; readonly message?: unknown }
  return typeof msg === 'string' ? msg : typeof message === 'string' ? message : ''
}
