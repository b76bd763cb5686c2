import { masked } from './masking.ts'
import { visible } from './visible.ts'

/** The part of a logger that Treadle uses: pino, winston and `console` all have it. */
export interface Logger {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

const ignore = () => {}

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** What a program sees that configured no logger: trouble, and nothing else. */
export const consoleLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: (message) => console.warn(`treadle: ${visible(masked(message))}`),
  error: (message) => console.error(`treadle: ${visible(masked(message))}`),
}

/** The same logger, except that its failures stay its own (no job may fail because a line could not be written) and that it is told no passwords. */
export function soundLogger(logger: Logger): Logger {
  const level = (name: keyof Logger) => (message: string) => {
    try {
      logger[name](masked(message))
    } catch {
      // There is nowhere left to say so.
    }
  }
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}
