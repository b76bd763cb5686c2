import { messageOf } from '../../core/errors.ts'
import { type LogLevel, logLevels } from '../../core/logger.ts'
import { unknownOptions } from '../../core/options.ts'
import { type ByteSize, parseByteSize } from '../../core/text/byte-size.ts'
import { shown } from '../../core/text/shown.ts'
import type { LogSettings } from '../../worker/runs/job-logs.ts'

/** Which log lines of each job to store. */
export interface LogOptions {
  /** Minimum level of the lines to store. Default: `info`. */
  readonly level?: LogLevel
  /** Maximum number of lines per job; the newest are kept. Default: 1,000. */
  readonly lines?: number
  /** Maximum total size of a job's lines. Default: `'256kb'`. */
  readonly bytes?: ByteSize
}

const mostLines = 100_000
const [fewestBytes, mostBytes] = [1_024, 64 * 1024 * 1024]

/** Null if no lines are to be stored. */
export function logSettings(options: LogOptions | false = {}, problems: string[]): LogSettings | null {
  if (options === false) return null
  if (typeof options !== 'object' || options === null) {
    problems.push(`logs must be false or an object such as { level: 'debug' }, got ${shown(options)}`)
    return null
  }
  problems.push(...unknownOptions(options, ['level', 'lines', 'bytes']).map((problem) => `logs: ${problem}`))
  const { level = 'info', lines = 1_000 } = options
  if (!logLevels.includes(level)) problems.push(`logs.level must be one of ${logLevels.join(', ')}, got ${shown(level)}`)
  if (!Number.isSafeInteger(lines) || lines < 1 || lines > mostLines)
    problems.push(`logs.lines must be a whole number from 1 to ${mostLines}, got ${shown(lines)}`)
  return { level, lines, bytes: bytesOf(options.bytes ?? '256kb', problems) }
}

function bytesOf(given: ByteSize, problems: string[]): number {
  try {
    const bytes = parseByteSize(given, 'logs.bytes')
    if (bytes < fewestBytes || bytes > mostBytes) problems.push(`logs.bytes must be from 1kb to 64mb, got ${shown(given)}`)
    return bytes
  } catch (thrown) {
    problems.push(messageOf(thrown))
    return 0
  }
}
