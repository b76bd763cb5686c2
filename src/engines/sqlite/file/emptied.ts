import { realpathSync, statSync } from 'node:fs'
import { TreadleError } from '../../../core/errors.ts'

/** How long another program that begins a new queue here may take to write the file's first page. */
const creationMs = 300

/**
 * SQLite takes an empty file for a new database, and deletes the log beside it together with everything that was only in the
 * log. If programs have the file open, it waits for them instead. No program leaves files like these: the database gets its first
 * page before there is a log, and a log is deleted before its database.
 */
export function refuseEmptied(path: string): void {
  const size = sizeOf(path) ?? 0
  if (size > 0 && size < headerBytes)
    throw emptied(path, `has only ${size} of the ${headerBytes} bytes that a database begins with`)
  if (!isEmptied(realPath(path))) return
  // If the file was deleted without its log, a program that has just created it again looks the same.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, creationMs)
  if (isEmptied(realPath(path))) throw emptied(path, 'is empty, but its log is there: the file was truncated')
}

function emptied(path: string, what: string): TreadleError {
  const file = realPath(path)
  const message = `${path} ${what}. Stop all programs that use it, delete ${file}-wal and ${file}-shm if they are there, restore the file from a backup, and start them again. Without a backup, delete all three to begin with an empty queue.`
  return new TreadleError('DATABASE_CORRUPT', message)
}

/** Why a queue that begins now may take the place of a lost one, judged by the files that are there. */
export function traceOfLost(path: string): string | undefined {
  const file = realPath(path)
  const size = sizeOf(file)
  if (size === undefined && holdsChanges(`${file}-wal`)) return `it is missing, but ${file}-wal is there`
  if (size === 0 && !isEmptied(file) && holdsWakes(`${path}.wake`))
    return `it is empty, but ${path}.wake shows that programs have used it`
  return undefined
}

function isEmptied(file: string): boolean {
  return sizeOf(file) === 0 && (sizeOf(`${file}-wal`) !== undefined || sizeOf(`${file}-shm`) !== undefined)
}

const headerBytes = 100
const logHeaderBytes = 32

function holdsChanges(log: string): boolean {
  return (sizeOf(log) ?? 0) > logHeaderBytes
}

function holdsWakes(wakeFile: string): boolean {
  return (sizeOf(wakeFile) ?? 0) > 0
}

/** SQLite names the log after the file itself, even if the file is opened through a link. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Undefined if there is no file, or none that this user can see: SQLite says why it cannot open what else is there. */
function sizeOf(path: string): number | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found?.isFile() ? found.size : undefined
  } catch {
    return undefined
  }
}
