import { loggableJson } from './text/loggable.ts'
import { masked } from './text/masking.ts'
import { visible } from './text/visible.ts'

/** The part of a logger that Treadle uses: pino, winston and `console` all have it. */
export interface Logger {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** The levels of a logger. */
export type LogLevel = keyof Logger

export const logLevels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

/** What a line says beside its message. */
export type LogFields = Readonly<Record<string, unknown>>

/** A logger as Treadle itself speaks to it: with fields, whichever way the given one takes them. It never throws. */
export interface SoundLogger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** The same with these fields in every line. Absent where the given logger has no `child`: then they are part of the message. */
  child?(fields: LogFields): SoundLogger
}

const ignore = () => {}

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** What a program sees that configured no logger: trouble, and nothing else. */
export const consoleLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: (message: string, fields?: LogFields) => console.warn(`treadle: ${consoleLine(message, fields)}`),
  error: (message: string, fields?: LogFields) => console.error(`treadle: ${consoleLine(message, fields)}`),
}

function consoleLine(message: string, fields?: LogFields): string {
  return visible(masked(fields === undefined ? message : `${message} ${loggableJson(fields)}`))
}

/** What pino, winston and others may have beside the four methods. */
interface GivenLogger extends Logger {
  readonly child?: unknown
  readonly bindings?: unknown
}

type LogCall = (...args: readonly unknown[]) => void

/** The same logger, except that its failures stay its own (no job may fail because a line could not be written) and that it is told no passwords. */
export function soundLogger(given: Logger): SoundLogger {
  const logger: GivenLogger = given
  // pino is the one that takes the fields first, and the one that has `bindings`.
  const isPino = typeof logger.bindings === 'function'
  const level = (name: LogLevel) => (message: string, fields?: LogFields) => {
    try {
      const text = masked(message)
      if (fields === undefined) logger[name](text)
      else (logger[name] as LogCall).apply(logger, isPino ? [fields, text] : [text, fields])
    } catch {
      // There is nowhere left to say so.
    }
  }
  const sound: SoundLogger = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
  const { child } = logger
  if (typeof child !== 'function') return sound
  return { ...sound, child: (fields) => childOf(sound, () => child.call(logger, fields) as Logger) }
}

function childOf(parent: SoundLogger, make: () => Logger): SoundLogger {
  try {
    return soundLogger(make())
  } catch {
    return parent
  }
}
