import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { TreadleError } from '../../../core/errors.ts'
import { type SqliteDatabase, type SqliteDriver, type SqliteStatement, withLargeNumbers } from './driver.ts'
import { refuseEmptied } from './emptied.ts'
import { sqliteFailure } from './failure.ts'
import { type FileIdentity, FileWatch, identityOf, LogReplaced, refuseReplaced } from './file-watch.ts'

export interface ConnectionOptions {
  readonly path: string
  /** How long a statement waits for another process's transaction; 0 fails immediately with `DATABASE_BUSY`. */
  readonly busyMs: number
  /** The file that the path must refer to. If omitted, any file will do, and a missing one is created. */
  readonly identity?: FileIdentity | undefined
}

/** The statements that begin, commit and roll back a transaction. */
interface TransactionWords {
  readonly begin: string
  readonly commit: string
  readonly rollback: readonly string[]
}

/** Takes the write lock before reading: a transaction that needs the lock later can only fail. */
const own: TransactionWords = { begin: 'BEGIN IMMEDIATE', commit: 'COMMIT', rollback: ['ROLLBACK'] }
/** Part of a transaction that the caller began. */
const joined: TransactionWords = {
  begin: 'SAVEPOINT treadle_joined',
  commit: 'RELEASE treadle_joined',
  rollback: ['ROLLBACK TO treadle_joined', 'RELEASE treadle_joined'],
}

/** Whether a commit waits for the disk: only FULL does. */
type Synchronous = 'FULL' | 'NORMAL'

/** An open database file. All methods are synchronous. */
export class Connection {
  readonly #database: SqliteDatabase
  readonly #path: string
  readonly #begin: SqliteStatement
  readonly #commit: SqliteStatement
  readonly #rollback: readonly SqliteStatement[]
  /** False if the connection belongs to the caller, who decides how its transactions reach the disk. */
  readonly #isOwn: boolean
  #synchronous: Synchronous | undefined
  #watch: FileWatch | undefined

  /** Changes nothing in the file yet, so that a file for another version stays untouched. */
  static open(Driver: SqliteDriver, options: ConnectionOptions): Connection {
    return new Connection(
      guarded(options.path, () => openFile(Driver, options)),
      options.path,
      own,
    )
  }

  /** Uses a connection on which the caller has already begun a transaction. */
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

  /** Configures the connection so that everything is durable before it is acknowledged. */
  makeDurable(): void {
    this.#useWal()
    this.#synchronize('FULL')
    this.exec('PRAGMA temp_store = MEMORY')
    this.exec('PRAGMA cache_size = -16000')
    this.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
  }

  /** From now on, every answer is checked: the path must still refer to the open file. */
  watchFile(identity = identityOf(this.#path)): void {
    if (identity !== undefined && this.file !== '') this.#watch = new FileWatch(identity, this.file)
  }

  get identity(): FileIdentity | undefined {
    return this.#watch?.identity
  }

  /** Throws if the path no longer refers to the open file. */
  checkFile(): void {
    try {
      this.#watch?.check()
    } catch (thrown) {
      // A log that lost its name can still be read through this connection, so its content is saved in the database.
      if (thrown instanceof LogReplaced) this.#tryEmptyLog()
      throw thrown
    }
  }

  prepare(sql: string): SqliteStatement {
    return this.#guarded(() => withLargeNumbers(this.#database.prepare(sql)))
  }

  exec(sql: string): void {
    this.#guarded(() => this.#database.exec(sql))
  }

  /** Durable when this returns: in WAL mode, only FULL syncs on each commit. */
  transaction<Answer>(work: () => Answer): Answer {
    return this.#transaction('FULL', work)
  }

  /**
   * A transaction that need not be on disk before it is answered. It survives the end of the process and reaches the disk with
   * the next durable one. Only a power loss can undo it.
   */
  relaxedTransaction<Answer>(work: () => Answer): Answer {
    return this.#transaction('NORMAL', work)
  }

  /** The path as SQLite reports it. SQLite names the log after it, even if the file was opened through a link. */
  get file(): string {
    return this.#guarded(() => fileOf(this.#database))
  }

  /** Copies the log into the database and syncs it; false if another connection is in the way. */
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

  /** For statements outside a transaction. */
  read<Answer>(work: () => Answer): Answer {
    return this.#guarded(work)
  }

  /** Like `read`, for answers that are returned to the program. */
  readChecked<Answer>(work: () => Answer): Answer {
    const answer = this.#guarded(work)
    this.checkFile()
    return answer
  }

  setBusyMs(busyMs: number): void {
    this.exec(`PRAGMA busy_timeout = ${busyMs}`)
  }

  /**
   * Closing the last connection copies the log into the file and deletes the log by name, but that name may belong to another
   * file by now. So a connection whose file was replaced stays open until the program ends.
   *
   * The log is copied before: not every driver ends its statements when it closes, and SQLite keeps the file open until they are
   * garbage collected.
   */
  close(): void {
    if (this.#watch !== undefined && !isSound(this.#watch)) {
      leftOpen.add(this)
      return
    }
    if (this.#watch !== undefined) this.#tryEmptyLog()
    this.#database.close()
  }

  /**
   * When two processes switch a new file to WAL at the same moment, SQLite returns "busy" to one of them immediately, because
   * both could wait forever. So this waits here, with a transaction that needs the file exclusively.
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

  /** The mode stays until the other one is needed, because a program usually repeats the same kind of call. */
  #synchronize(synchronous: Synchronous): void {
    if (this.#synchronous === synchronous) return
    // Not prepared: this pragma takes effect when it is compiled, and running a statement again need not compile it.
    this.exec(`PRAGMA synchronous = ${synchronous}`)
    this.#synchronous = synchronous
  }

  /** Nothing is lost if it fails: the next program that opens the file reads the log. */
  #tryEmptyLog(): void {
    try {
      this.emptyLog()
    } catch {
      // A caller with an error of its own throws that one.
    }
  }

  #undo(): void {
    try {
      for (const statement of this.#rollback) statement.run()
    } catch {
      // SQLite rolls back by itself after a failed write; the original error is the one that matters.
    }
  }

  #guarded<Answer>(work: () => Answer): Answer {
    try {
      return guarded(this.#path, work)
    } catch (thrown) {
      // SQLite may fail on a truncated or overwritten file or log before any check has noticed it.
      if (thrown instanceof TreadleError && thrown.code !== 'DATABASE_BUSY') this.#watch?.check()
      throw thrown
    }
  }
}

/** Keeps them from being garbage collected, which would close them. */
const leftOpen = new Set<Connection>()

function isSound(watch: FileWatch): boolean {
  try {
    watch.check()
    return true
  } catch {
    return false
  }
}

/** Empty for a database in memory. */
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

/** Reads the first page, so that a file that is not a database is closed right away. */
function openFile(Driver: SqliteDriver, { path, busyMs, identity }: ConnectionOptions): SqliteDatabase {
  if (identity !== undefined) refuseReplaced(identity)
  refuseEmptied(path)
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
 * Jobs may contain anything, so a new file is accessible only to its owner from the start, and SQLite gives the files beside it
 * the same permissions. An existing file is not even opened here: closing it would release all locks that this process holds on
 * it.
 */
function makePrivate(path: string): void {
  if (path === ':memory:' || existsSync(path)) return
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600))
  } catch {
    // SQLite will report why the file cannot be created.
  }
}

// Switching a new file to WAL needs exclusive access for a moment, whatever timeout the caller chose.
const openBusyMs = 15_000
const switchAttempts = 100
