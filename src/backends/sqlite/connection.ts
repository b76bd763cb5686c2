import { messageOf, TreadleError } from '../../core/errors.ts'
import type { SqliteDatabase, SqliteDriver, SqliteStatement } from './driver.ts'

export interface ConnectionOptions {
  readonly path: string
  /** How long a statement waits for another process's transaction; 0 gives up at once with `DATABASE_BUSY`. */
  readonly busyMs: number
}

/** One open database file. All its methods are synchronous. */
export class Connection {
  readonly #database: SqliteDatabase
  readonly #path: string
  readonly #begin: SqliteStatement
  readonly #commit: SqliteStatement
  readonly #rollback: SqliteStatement
  readonly #relax: SqliteStatement
  readonly #insist: SqliteStatement

  /** Changes nothing in the file yet, so that one that is not for this version stays as it is. */
  constructor(Driver: SqliteDriver, options: ConnectionOptions) {
    this.#path = options.path
    this.#database = this.#guarded(() => openFile(Driver, options))
    this.#begin = this.prepare('BEGIN IMMEDIATE')
    this.#commit = this.prepare('COMMIT')
    this.#rollback = this.prepare('ROLLBACK')
    this.#relax = this.prepare('PRAGMA synchronous = NORMAL')
    this.#insist = this.prepare('PRAGMA synchronous = FULL')
  }

  /** Durable before it is acknowledged: with WAL, only FULL syncs on each commit. */
  makeDurable(): void {
    this.#useWal()
    this.exec('PRAGMA synchronous = FULL')
    this.exec('PRAGMA temp_store = MEMORY')
    this.exec('PRAGMA cache_size = -16000')
    this.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
  }

  prepare(sql: string): SqliteStatement {
    return this.#guarded(() => this.#database.prepare(sql))
  }

  exec(sql: string): void {
    this.#guarded(() => this.#database.exec(sql))
  }

  /** Takes the write lock before it reads: a transaction that had to take it later could only fail. */
  transaction<Answer>(work: () => Answer): Answer {
    return this.#guarded(() => {
      this.#begin.run()
      try {
        const answer = work()
        this.#commit.run()
        return answer
      } catch (thrown) {
        this.#undo()
        throw thrown
      }
    })
  }

  /**
   * A transaction that need not reach the disk before it is answered. It survives the end of the process, and is on disk with
   * the next one that is; only a machine that loses its power may forget it.
   */
  relaxedTransaction<Answer>(work: () => Answer): Answer {
    this.#relax.run()
    try {
      return this.transaction(work)
    } finally {
      this.#insist.run()
    }
  }

  /** For statements that stand alone. */
  read<Answer>(work: () => Answer): Answer {
    return this.#guarded(work)
  }

  setBusyMs(busyMs: number): void {
    this.exec(`PRAGMA busy_timeout = ${busyMs}`)
  }

  close(): void {
    this.#database.close()
  }

  /**
   * Of two processes that switch a new file at the same moment SQLite tells one "busy" without any wait, since both could wait
   * for ever. So the wait is done here, by a transaction that wants the file for itself.
   */
  #useWal(): void {
    for (let attempt = 1; ; attempt++) {
      try {
        this.exec('PRAGMA journal_mode = WAL')
        return
      } catch (thrown) {
        const isBusy = thrown instanceof TreadleError && thrown.code === 'DATABASE_BUSY'
        if (!isBusy || attempt === switchAttempts) throw thrown
        this.exec('BEGIN EXCLUSIVE; COMMIT')
      }
    }
  }

  #undo(): void {
    try {
      this.#rollback.run()
    } catch {
      // After a failed write SQLite has rolled back by itself; what counts is why.
    }
  }

  #guarded<Answer>(work: () => Answer): Answer {
    try {
      return work()
    } catch (thrown) {
      throw thrown instanceof TreadleError ? thrown : sqliteError(thrown, this.#path)
    }
  }
}

/** Reads the file's first page, so that one that is no database is closed again right here. */
function openFile(Driver: SqliteDriver, { path, busyMs }: ConnectionOptions): SqliteDatabase {
  const database = new Driver(path)
  try {
    database.exec(`PRAGMA busy_timeout = ${Math.max(busyMs, openBusyMs)}; PRAGMA schema_version`)
    return database
  } catch (thrown) {
    database.close()
    throw thrown
  }
}

// Switching a new file to WAL needs it alone for a moment, whatever the caller's patience is later.
const openBusyMs = 15_000
const switchAttempts = 100

const busyCodes: readonly number[] = [5, 6]
const corruptCodes: readonly number[] = [11, 26]
const unwritableCodes: readonly number[] = [8, 14, 23]
const diskCodes: readonly number[] = [10, 13]
const constraintCode = 19

/** True when a row was refused because there is one like it already. */
export function isConflict(thrown: unknown): boolean {
  return primaryCode(thrown) === constraintCode
}

function sqliteError(thrown: unknown, path: string): TreadleError {
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
    const message = `${path} can not be opened for writing (${messageOf(thrown)}). Check that its folder exists and may be written to.`
    return new TreadleError('DATABASE_UNWRITABLE', message, options)
  }
  if (diskCodes.includes(code)) {
    const message = `${path} can not be written (${messageOf(thrown)}). Free space on its disk, or check that the disk works.`
    return new TreadleError('DATABASE_UNWRITABLE', message, options)
  }
  return new TreadleError('DATABASE_FAILED', `SQLite refused on ${path}: ${messageOf(thrown)}`, options)
}

/** SQLite's result code without its extension; 0 when the error came from elsewhere. */
function primaryCode(thrown: unknown): number {
  const { errcode, code } = (thrown ?? {}) as { errcode?: unknown; code?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  return typeof code === 'number' ? code & 0xff : 0
}
