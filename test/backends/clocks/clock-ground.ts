import { openSqlite } from 'treadle/sqlite'
import { silentLogger } from '../../../src/core/logger.ts'
import { type Clock, pause, systemClock } from '../../../src/core/time/clock.ts'
import { loadDriver, type SqliteDatabase } from '../../../src/engines/sqlite/file/driver.ts'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import type { ManualClock } from '../../../src/testing/manual-clock.ts'
import { scratchFolder } from '../../processes/database.ts'
import { mysqlUrl, type SqlEngine } from '../../services.ts'
import { SqlGround } from '../sql-ground.ts'

export const sqlEngines: readonly SqlEngine[] = mysqlUrl() === null ? ['postgres', 'mariadb'] : ['postgres', 'mariadb', 'mysql']

/** The clock of a machine that is so far ahead of this one. */
export function skewedClock(aheadMs: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + aheadMs }
}

/** A database that somebody else can lock. */
export interface LockableGround {
  start(): Promise<void>
  stop(): Promise<void>
  /** A queue that holds nothing. */
  open(clock: Clock): Promise<QueueBackend>
  openAgain(clock: Clock): Promise<QueueBackend>
  /** Keeps everybody from the jobs until `free`. */
  lock(): Promise<void>
  free(): Promise<void>
  /** Whether somebody waits for the lock, as far as can be seen. */
  isWaitedFor(): Promise<boolean>
}

export function groundOf(engine: 'sqlite' | SqlEngine): LockableGround {
  return engine === 'sqlite' ? new SqliteGround() : new LockableSql(engine)
}

class SqliteGround implements LockableGround {
  #folder: ReturnType<typeof scratchFolder> | undefined
  #opened = 0
  #other: SqliteDatabase | undefined

  async start(): Promise<void> {
    this.#folder = scratchFolder()
  }

  async stop(): Promise<void> {
    this.#other?.close()
    this.#folder?.remove()
  }

  open(clock: Clock): Promise<QueueBackend> {
    this.#opened++
    return this.openAgain(clock)
  }

  openAgain(clock: Clock): Promise<QueueBackend> {
    return openSqlite({ path: this.#path, clock, logger: silentLogger })
  }

  async lock(): Promise<void> {
    this.#other?.close()
    this.#other = new (await loadDriver())(this.#path)
    this.#other.exec('BEGIN IMMEDIATE')
  }

  async free(): Promise<void> {
    this.#other?.exec('COMMIT')
  }

  async isWaitedFor(): Promise<boolean> {
    return true
  }

  get #path(): string {
    return this.#folder?.file(`jobs-${this.#opened}.db`) ?? ''
  }
}

class LockableSql extends SqlGround implements LockableGround {
  readonly #isPostgres: boolean

  constructor(engine: SqlEngine) {
    super(engine)
    this.#isPostgres = engine === 'postgres'
  }

  async lock(): Promise<void> {
    if (this.#isPostgres) await this.query('BEGIN')
    await this.query(this.#isPostgres ? 'LOCK TABLE {jobs}' : 'LOCK TABLES {jobs} WRITE')
  }

  async free(): Promise<void> {
    await this.query(this.#isPostgres ? 'COMMIT' : 'UNLOCK TABLES')
  }

  async isWaitedFor(): Promise<boolean> {
    return (await this.query(this.#isPostgres ? waitingInPostgres : waitingInMysql)).length > 0
  }
}

const waitingInPostgres = 'SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))'
const waitingInMysql = `SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND state LIKE 'Waiting for table%'`

/**
 * Locks the jobs, begins `work`, and frees them when `work` waits for that and has waited for longer than `longerThanMs`. Gives its
 * answer, and when the lock was freed by the clock of this machine.
 */
export async function behindLock<Answer>(
  ground: LockableGround,
  longerThanMs: number,
  work: () => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly freedAt: number }> {
  await ground.lock()
  const begunAt = systemClock.now()
  const answer = work()
  answer.catch(() => {})
  const isOver = () => systemClock.now() - begunAt > longerThanMs
  while (!isOver() || !(await ground.isWaitedFor())) await pause(systemClock, 10)
  const freedAt = systemClock.now()
  await ground.free()
  return { answer: await answer, freedAt }
}

/** The words of the conformance tests on a clock that runs by itself. */
export function benchOn(backend: QueueBackend, clock: Clock): Bench {
  return new Bench(backend, clock as ManualClock)
}
