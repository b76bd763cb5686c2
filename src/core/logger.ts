import { loggableJson, withPlainErrors } from './text/loggable.ts'
import { maskedFields } from './text/masked-fields.ts'
import { masked } from './text/masking.ts'
import { visible } from './text/visible.ts'

/** The part of a logger that Treadle uses; pino, winston and `console` all provide it. */
export interface Logger {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** The levels of a logger. */
export type LogLevel = keyof Logger

export const logLevels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

/** The fields of a log line, in addition to its message. */
export type LogFields = Readonly<Record<string, unknown>>

/** The logger that Treadle uses internally: it accepts fields, however the underlying logger takes them. It never throws. */
export interface SoundLogger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /**
   * Returns a logger that adds these fields to every line. Absent if the underlying logger has no `child`; the fields are then
   * part of the message.
   */
  child?(fields: LogFields): SoundLogger
}

const ignore = () => {}

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** The default logger: prints only warnings and errors. */
export const consoleLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: (message: string, fields?: LogFields) => console.warn(`treadle: ${consoleLine(message, fields)}`),
  error: (message: string, fields?: LogFields) => console.error(`treadle: ${consoleLine(message, fields)}`),
}

function consoleLine(message: string, fields?: LogFields): string {
  return visible(masked(fields === undefined ? message : `${message} ${loggableJson(fields)}`))
}

/** What pino, winston and others may provide in addition to the four methods. */
interface GivenLogger extends Logger {
  readonly child?: unknown
  readonly bindings?: unknown
}

type LogCall = (...args: readonly unknown[]) => void

/**
 * Wraps a logger so that its failures are contained (no job may fail because a line could not be written) and passwords are
 * masked.
 */
export function soundLogger(given: Logger): SoundLogger {
  const logger: GivenLogger = given
  // pino takes the fields first, and is recognized by `bindings`.
  const isPino = typeof logger.bindings === 'function'
  // winston writes fields as they are, often as JSON.
  const keepsErrors = isPino || typeof logger.child !== 'function'
  const level = (name: LogLevel) => (message: string, fields?: LogFields) => {
    try {
      const text = masked(message)
      if (fields === undefined) return logger[name](text)
      const safe = maskedFields(fields)
      ;(logger[name] as LogCall).apply(logger, isPino ? [safe, text] : [text, keepsErrors ? safe : withPlainErrors(safe)])
    } catch {
      // There is nowhere left to report this.
    }
  }
  const sound: SoundLogger = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
  const { child } = logger
  if (typeof child !== 'function') return sound
  return { ...sound, child: (fields) => childOf(sound, () => child.call(logger, maskedFields(fields)) as Logger) }
}

function childOf(parent: SoundLogger, make: () => Logger): SoundLogger {
  try {
    return soundLogger(make())
  } catch {
    return parent
  }
}
