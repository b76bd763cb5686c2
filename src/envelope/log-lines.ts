import type { LogLevel } from '../core/logger.ts'
import { parseEncrypted } from './encryption.ts'
import { identityOf, isInstant } from './identity.ts'
import type { KeyRing } from './keys/key-ring.ts'

/** A line that a job has logged, or that its program printed. */
export interface LogLine {
  /** Counted from 1 across all attempts of the job; gaps in the numbers mean that lines were dropped. */
  readonly line: number
  readonly attempt: number
  /** UTC milliseconds. */
  readonly at: number
  readonly level: LineLevel
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/** The level of a log line, or the stream it was printed to. */
export type LineLevel = LogLevel | 'stdout' | 'stderr'

/** A line that waits to be stored. */
export interface WrittenLine {
  readonly at: number
  readonly level: LineLevel
  readonly message: string
  /** A JSON text. */
  readonly fields: string | null
}

interface LoggingJob {
  readonly id: string
  /** The text that was signed. */
  readonly identity: string
}

/** One line of a chunk, as JSON. */
export function lineText({ at, level, message, fields }: WrittenLine): string {
  const start = `[${at},"${level}",${JSON.stringify(message)}`
  return fields === null ? `${start}]` : `${start},${fields}]`
}

/** Lines as they are stored: encrypted if the payload of their job is. */
export function storedLines(texts: readonly string[], { id, identity }: LoggingJob, keys: KeyRing | null): string {
  const text = `[${texts.join(',')}]`
  const job = keys === null ? undefined : identityOf(id, identity)
  return keys !== null && job?.encrypted ? keys.encrypt(text, contextOf(id), job) : text
}

export interface LogChunkText {
  readonly attempt: number
  readonly first: number
  readonly last: number
  readonly text: string
}

/**
 * Reads what `storedLines` wrote. Lines are not signed, so they are only as trustworthy as the database. A chunk that cannot be
 * decrypted here, or that something else has written, is replaced by a line that says so.
 */
export function readLines(chunk: LogChunkText, id: string, keys: KeyRing | null): readonly LogLine[] {
  const { attempt, first, last, text } = chunk
  const encrypted = parseEncrypted(text)
  const plain = encrypted === undefined ? text : decrypted(encrypted, id, keys)
  const lines = plain === undefined ? undefined : parsedLines(plain)
  if (lines !== undefined) return lines.map((line, index) => ({ line: first + index, attempt, ...line }))
  const count = last - first + 1
  const what = encrypted === undefined ? 'cannot be read' : `encrypted (${encrypted.kid})`
  return [{ line: first, attempt, at: 0, level: 'info', message: `${count} ${count === 1 ? 'line' : 'lines'}: ${what}` }]
}

function decrypted(encrypted: NonNullable<ReturnType<typeof parseEncrypted>>, id: string, keys: KeyRing | null) {
  try {
    return keys?.decrypt(encrypted, contextOf(id))
  } catch {
    return undefined
  }
}

type ParsedLine = Pick<LogLine, 'at' | 'level' | 'message' | 'fields'>

const lineLevels: ReadonlySet<unknown> = new Set<LineLevel>(['debug', 'info', 'warn', 'error', 'stdout', 'stderr'])

function parsedLines(text: string): readonly ParsedLine[] | undefined {
  try {
    const lines = JSON.parse(text) as readonly (readonly unknown[])[]
    return lines.map(([at, level, message, fields]) => {
      if (!isInstant(at) || typeof message !== 'string' || !lineLevels.has(level)) throw new TypeError('not a line')
      const line = { at, level: level as LineLevel, message }
      return typeof fields === 'object' && fields !== null ? { ...line, fields: fields as NonNullable<LogLine['fields']> } : line
    })
  } catch {
    return undefined
  }
}

function contextOf(id: string): string {
  return `log\n${id}`
}
