import { type LogFields, type LogLevel, logLevels } from '../core/logger.ts'

/** Logs one line: a message, a message with fields, or fields (such as an error) with a message. */
export interface LogMethod {
  (message: string, fields?: LogFields): void
  (fields: object, message?: string): void
}

/**
 * The logger of a run. Its lines go to the program's logger and are stored with the job. It can be passed to any library that
 * accepts a logger.
 */
export interface JobLogger {
  readonly debug: LogMethod
  readonly info: LogMethod
  readonly warn: LogMethod
  readonly error: LogMethod
  /** Returns a logger that adds these fields to every line. */
  child(fields: LogFields): JobLogger
}

/** Receives what child programs and isolated handlers print during a run. */
export type OutputSink = (stream: 'stdout' | 'stderr', line: string) => void

const outputs = new WeakMap<JobLogger, OutputSink>()

/** Stores what is printed during this logger's run along with its lines. */
export function captureOutput(logger: JobLogger, sink: OutputSink): void {
  outputs.set(logger, sink)
}

/** Undefined if the output is not captured. */
export function outputOf(logger: JobLogger): OutputSink | undefined {
  return outputs.get(logger)
}

export type WriteLine = (level: LogLevel, message: string, fields: LogFields | undefined) => void

/** Creates a logger that passes each line to `write`. */
export function jobLogger(write: WriteLine, bound?: LogFields): JobLogger {
  const methods = Object.fromEntries(logLevels.map((level) => [level, logMethod(level, write, bound)]))
  const child = (fields: LogFields) => jobLogger(write, withFields(bound, fields) ?? bound)
  return Object.freeze({ ...(methods as Pick<JobLogger, LogLevel>), child })
}

function logMethod(level: LogLevel, write: WriteLine, bound: LogFields | undefined): LogMethod {
  return (first: unknown, second?: unknown) => {
    const { message, fields } = said(first, second)
    write(level, message, bound === undefined ? fields : (withFields(bound, fields) ?? bound))
  }
}

/** Undefined if the fields cannot be read, such as those of a revoked proxy. A line of a log never fails a job. */
function withFields(bound: LogFields | undefined, fields: unknown): LogFields | undefined {
  try {
    return { ...bound, ...fieldsOf(fields) }
  } catch {
    return undefined
  }
}

interface Said {
  readonly message: string
  readonly fields: LogFields | undefined
}

function said(first: unknown, second: unknown): Said {
  try {
    return saidIn(first, second)
  } catch {
    return { message: 'a line that cannot be read', fields: undefined }
  }
}

function saidIn(first: unknown, second: unknown): Said {
  if (typeof first !== 'object' || first === null) return { message: String(first), fields: fieldsOf(second) }
  const fields = fieldsOf(first)
  if (second !== undefined) return { message: String(second), fields }
  return { message: first instanceof Error ? first.message : textOf(first), fields }
}

/** As in pino, an error logged without surrounding fields is called `err`. Undefined if nothing of the value can be read. */
function fieldsOf(value: unknown): LogFields | undefined {
  if (value === undefined || value === null) return undefined
  try {
    if (value instanceof Error) return { err: value }
  } catch {
    return undefined
  }
  return typeof value === 'object' ? (value as LogFields) : { value }
}

function textOf(fields: object): string {
  const { msg, message } = fields as { readonly msg?: unknown; readonly message?: unknown }
  return typeof msg === 'string' ? msg : typeof message === 'string' ? message : ''
}
