import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { TreadleError } from '../../../core/errors.ts'
import { type SqliteDatabase, type SqliteDriver, type SqliteStatement, withLargeNumbers } from './driver.ts'
import { sqliteFailure } from './failure.ts'
import { type FileIdentity, FileWatch, identityOf, LogReplaced, refuseReplaced } from './file-watch.ts'

export interface ConnectionOptions {
  readonly path: string
  /** How long a statement waits for another process's transaction; 0 gives up at once with `DATABASE_BUSY`. */
  readonly busyMs: number
  /** The file that the path must name. Without it, it may be any, and is made where there is none. */
  readonly identity?: FileIdentity | undefined
}

/** The statements that begin and end a transaction, and those that undo it. */
interface TransactionWords {
  readonly begin: string
  readonly commit: string
  readonly rollback: readonly string[]
}

/** Takes the write lock before it reads: a transaction that had to take it later could only fail. */
const own: TransactionWords = { begin: 'BEGIN IMMEDIATE', commit: 'COMMIT', rollback: ['ROLLBACK'] }
/** A part of a transaction that somebody else began. */
const joined: TransactionWords = {
  begin: 'SAVEPOINT treadle_joined',
  commit: 'RELEASE treadle_joined',
  rollback: ['ROLLBACK TO treadle_joined', 'RELEASE treadle_joined'],
}

/** Whether a commit waits for the disk. */
type Synchronous = 'FULL' | 'NORMAL'

/** One open database file. All its methods are synchronous. */
export class Connection {
  readonly #database: SqliteDatabase
  readonly #path: string
  readonly #begin: SqliteStatement
  readonly #commit: SqliteStatement
  readonly #rollback: readonly SqliteStatement[]
  /** False on a connection that is another's: how its transactions reach the disk is not said here. */
  readonly #isOwn: boolean
  #synchronous: Synchronous | undefined
  #watch: FileWatch | undefined

  /** Changes nothing in the file yet, so that one that is not for this version stays as it is. */
  static open(Driver: SqliteDriver, options: ConnectionOptions): Connection {
    return new Connection(
      guarded(options.path, () => openFile(Driver, options)),
      options.path,
      own,
    )
  }

  /** On a connection that somebody else has opened, and has begun a transaction on. */
  static joining(database: SqliteDatabase, path: string): Connection {
    return new Connection(database, path, joined)
  }

  private constructor(database: SqliteDatabase, path: string, words: TransactionWords) {
    this.#path = path
    this.#database = database
    this.#begin = this.prepare(words.begin)
    this.#commit = this.prepare(words.commit)
    this.#rollback = words.rollback.map((statement) => this.prepare(statement))
    this.#isOwn = words === own
  }

  /** For everything that is durable before it is acknowledged. */
  makeDurable(): void {
    this.#useWal()
    this.#synchronize('FULL')
    this.exec('PRAGMA temp_store = MEMORY')
    this.exec('PRAGMA cache_size = -16000')
    this.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
  }

  /** From here on every answer is given only if the path still names the file that is open. */
  watchFile(identity = identityOf(this.#path)): void {
    if (identity !== undefined && this.file !== '') this.#watch = new FileWatch(identity, this.file)
  }

  get identity(): FileIdentity | undefined {
    return this.#watch?.identity
  }

  /** Throws where the path names another file by now, or none. */
  checkFile(): void {
    try {
      this.#watch?.check()
    } catch (thrown) {
      if (thrown instanceof LogReplaced) this.#rescueLog()
      throw thrown
    }
  }

  prepare(sql: string): SqliteStatement {
    return this.#guarded(() => withLargeNumbers(this.#database.prepare(sql)))
  }

  exec(sql: string): void {
    this.#guarded(() => this.#database.exec(sql))
  }

  /** Durable when it is over: with WAL, only FULL syncs on each commit. */
  transaction<Answer>(work: () => Answer): Answer {
    return this.#transaction('FULL', work)
  }

  /**
   * A transaction that need not reach the disk before it is answered. It survives the end of the process, and is on disk with
   * the next one that is; only a machine that loses its power may forget it.
   */
  relaxedTransaction<Answer>(work: () => Answer): Answer {
    return this.#transaction('NORMAL', work)
  }

  /** As SQLite calls it: its log is named after that, also where the file was opened through a link. */
  get file(): string {
    return this.#guarded(() => fileOf(this.#database))
  }

  /** Copies what is in the log into the database, and syncs that; false where somebody is in the way. */
  emptyLog(): boolean {
    const { timeout } = this.read(() => this.prepare('PRAGMA busy_timeout').get() as { timeout: number })
    this.setBusyMs(0)
    try {
      const checkpoint = this.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
      return this.read(() => (checkpoint.get() as { busy: number }).busy === 0)
    } finally {
      this.setBusyMs(timeout)
    }
  }

  /** For statements that stand alone. */
  read<Answer>(work: () => Answer): Answer {
    return this.#guarded(work)
  }

  /** As `read`, for answers that go out to the program. */
  readChecked<Answer>(work: () => Answer): Answer {
    const answer = this.#guarded(work)
    this.checkFile()
    return answer
  }

  setBusyMs(busyMs: number): void {
    this.exec(`PRAGMA busy_timeout = ${busyMs}`)
  }

  /**
   * To close the last connection is to copy the log into the file and to delete it by its name, which may be another's by now. So
   * a connection whose file was replaced stays open until the program ends.
   */
  close(): void {
    if (this.#watch !== undefined && !isSound(this.#watch)) leftOpen.add(this)
    else this.#database.close()
  }

  /**
   * Of two processes that switch a new file at the same moment SQLite tells one "busy" without any wait, since both could wait
   * forever. So the wait is done here, by a transaction that wants the file for itself.
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

  #transaction<Answer>(synchronous: Synchronous, work: () => Answer): Answer {
    if (this.#watch?.isSuspect) this.checkFile()
    const answer = this.#guarded(() => {
      if (this.#isOwn) this.#synchronize(synchronous)
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
    this.checkFile()
    return answer
  }

  /** Stays so until the other is wanted: what one program does most often follows its like. */
  #synchronize(synchronous: Synchronous): void {
    if (this.#synchronous === synchronous) return
    // Not prepared: this pragma works when it is compiled, and a statement that is run again need not be.
    this.exec(`PRAGMA synchronous = ${synchronous}`)
    this.#synchronous = synchronous
  }

  /** What is in a log that lost its name is still to be had through this connection, and is safe in the database. */
  #rescueLog(): void {
    try {
      this.emptyLog()
    } catch {
      // What is thrown is that the log is gone.
    }
  }

  #undo(): void {
    try {
      for (const statement of this.#rollback) statement.run()
    } catch {
      // After a failed write SQLite has rolled back by itself; what counts is why.
    }
  }

  #guarded<Answer>(work: () => Answer): Answer {
    try {
      return guarded(this.#path, work)
    } catch (thrown) {
      // SQLite may stumble over a file or a log that was truncated or overwritten before anybody looks at it.
      if (thrown instanceof TreadleError && thrown.code !== 'DATABASE_BUSY') this.#watch?.check()
      throw thrown
    }
  }
}

/** Kept from being collected, which would close them. */
const leftOpen = new Set<Connection>()

function isSound(watch: FileWatch): boolean {
  try {
    watch.check()
    return true
  } catch {
    return false
  }
}

/** Empty where the database is in memory. */
export function fileOf(database: SqliteDatabase): string {
  const rows = database.prepare('PRAGMA database_list').all() as { readonly name: string; readonly file: string }[]
  return rows.find(({ name }) => name === 'main')?.file ?? ''
}

function guarded<Answer>(path: string, work: () => Answer): Answer {
  try {
    return work()
  } catch (thrown) {
    throw thrown instanceof TreadleError ? thrown : sqliteFailure(thrown, path)
  }
}

/** Reads the file's first page, so that one that is no database is closed again right here. */
function openFile(Driver: SqliteDriver, { path, busyMs, identity }: ConnectionOptions): SqliteDatabase {
  if (identity !== undefined) refuseReplaced(identity)
  makePrivate(path)
  const database = new Driver(path)
  try {
    database.exec(`PRAGMA busy_timeout = ${Math.max(busyMs, openBusyMs)}; PRAGMA schema_version`)
    return database
  } catch (thrown) {
    database.close()
    throw thrown
  }
}

/**
 * Jobs may hold anything, so a new file is its owner's alone from its first moment on; SQLite gives the same rights to the files
 * beside it. One that is there is not even opened here: to close it would release all locks that this process has on it.
 */
function makePrivate(path: string): void {
  if (path === ':memory:' || existsSync(path)) return
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600))
  } catch {
    // SQLite tells why it cannot be made.
  }
}

// Switching a new file to WAL needs it alone for a moment, whatever the caller's patience is later.
const openBusyMs = 15_000
const switchAttempts = 100
