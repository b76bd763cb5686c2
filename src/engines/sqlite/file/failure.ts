import { messageOf, TreadleError } from '../../../core/errors.ts'

const busyCodes: readonly number[] = [5, 6]
const corruptCodes: readonly number[] = [11, 26]
const unwritableCodes: readonly number[] = [8, 14, 23]
const diskCode = 10
const fullCode = 13
const constraintCode = 19

/** Whether a row was refused because it conflicts with an existing one. */
export function isConflict(thrown: unknown): boolean {
  return primaryCode(thrown) === constraintCode
}

/** Converts a driver error to a `TreadleError`. */
export function sqliteFailure(thrown: unknown, path: string): TreadleError {
  const code = primaryCode(thrown)
  const options = { cause: thrown }
  if (busyCodes.includes(code)) {
    return new TreadleError('DATABASE_BUSY', `Another process holds ${path} locked for too long. Try again.`, options)
  }
  if (corruptCodes.includes(code)) {
    const message = `${path} is not a sound SQLite database (${messageOf(thrown)}). Restore it from a backup, or name another file.`
    return new TreadleError('DATABASE_CORRUPT', message, options)
  }
  if (unwritableCodes.includes(code)) {
    const message = `${path} cannot be opened for writing (${messageOf(thrown)}). Check that its folder exists, and that both may be written to by this user.`
    return new TreadleError('DATABASE_UNWRITABLE', message, options)
  }
  if (code === fullCode) {
    const message = `${path} cannot be written (${messageOf(thrown)}). Free space on its disk.`
    return new TreadleError('DATABASE_UNWRITABLE', message, options)
  }
  if (code === diskCode) {
    const message = `${path} cannot be read or written (${messageOf(thrown)}). Check that its disk works and has free space. If the file was deleted or replaced while programs had it open, stop all of them and start them again.`
    return new TreadleError('DATABASE_UNWRITABLE', message, options)
  }
  return new TreadleError('DATABASE_FAILED', `SQLite refused on ${path}: ${messageOf(thrown)}`, options)
}

/** SQLite's primary result code; 0 if the error came from elsewhere. */
function primaryCode(thrown: unknown): number {
  const { errcode, code } = (thrown ?? {}) as { errcode?: unknown; code?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  const named = typeof code === 'string' ? namedCodes.find(([name]) => code.startsWith(name)) : undefined
  if (named !== undefined) return named[1]
  if (typeof code === 'number') return code & 0xff
  return messageCodes.find(([text]) => messageOf(thrown).includes(text))?.[1] ?? 0
}

/** `better-sqlite3` reports codes by name. */
const namedCodes: readonly (readonly [name: string, code: number])[] = [
  ['SQLITE_BUSY', 5],
  ['SQLITE_LOCKED', 6],
  ['SQLITE_READONLY', 8],
  ['SQLITE_IOERR', 10],
  ['SQLITE_CORRUPT', 11],
  ['SQLITE_FULL', 13],
  ['SQLITE_CANTOPEN', 14],
  ['SQLITE_CONSTRAINT', 19],
  ['SQLITE_AUTH', 23],
  ['SQLITE_NOTADB', 26],
]

/** Not every driver reports a code with every failure. */
const messageCodes: readonly (readonly [text: string, code: number])[] = [
  ['is locked', 5],
  ['readonly database', 8],
  ['disk I/O error', 10],
  ['is malformed', 11],
  ['disk is full', 13],
  ['unable to open database', 14],
  ['constraint failed', 19],
  ['file is not a database', 26],
]
