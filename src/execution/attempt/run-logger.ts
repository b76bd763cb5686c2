import type { SoundLogger } from '../../core/logger.ts'
import { captureOutput, type JobLogger, jobLogger } from '../../definition/job-logger.ts'
import type { Identity } from '../../envelope/envelope.ts'
import type { LineLevel } from '../../envelope/log-lines.ts'

/** Where the log lines of one run are stored. */
export interface RunLog {
  add(level: LineLevel, message: string, fields?: object): void
}

/** Labels every line with its job: as fields if the program's logger supports child loggers, otherwise as a prefix. */
export function runLogger(
  { name, id }: Pick<Identity, 'name' | 'id'>,
  logger: SoundLogger,
  log: RunLog | null = null,
): JobLogger {
  const told = logger.child?.({ job: name, jobId: id })
  const prefix = told === undefined ? `[${name} ${id}] ` : ''
  const target = told ?? logger
  const made = jobLogger((level, message, fields) => {
    target[level](`${prefix}${message}`, fields)
    log?.add(level, message, fields)
  })
  if (log !== null) captureOutput(made, (stream, line) => log.add(stream, line))
  return made
}
