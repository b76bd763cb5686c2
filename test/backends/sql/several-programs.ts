import { afterAll, beforeAll, describe, expect } from 'vitest'
import { pause, systemClock } from '../../../src/core/time/clock.ts'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import type { JobStore } from '../../../src/queue/contract/store.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { mysqlUrl, type SqlEngine } from '../../services.ts'
import { SqlGround } from '../sql-ground.ts'

const engines: readonly SqlEngine[] = mysqlUrl() === null ? ['postgres', 'mariadb'] : ['postgres', 'mariadb', 'mysql']

/** Describes what holds on every SQL database. */
export function onSqlDatabases(title: string, define: (programs: Programs) => void): void {
  describe.each(engines)(`${title}, on %s`, (engine) => {
    const ground = new SqlGround(engine)
    beforeAll(() => ground.start())
    afterAll(() => ground.stop())
    define(new Programs(ground, engine))
  })
}

/** InnoDB shows what it showed before to those who look more often than ten times a second. */
const lookEveryMs = 150

type Program = QueueBackend & { readonly store: JobStore }

/** Several programs on one queue, and somebody else in its database who may be in their way. */
export class Programs {
  readonly #ground: SqlGround
  readonly #engine: SqlEngine

  constructor(ground: SqlGround, engine: SqlEngine) {
    this.#ground = ground
    this.#engine = engine
  }

  /** Opens so many programs on an empty queue, and closes them when `work` is over. */
  async open(count: number, work: (benches: readonly Bench[]) => Promise<void>): Promise<void> {
    const clock = new ManualClock()
    const backends: QueueBackend[] = []
    try {
      backends.push(await this.#ground.open(clock))
      while (backends.length < count) backends.push(await this.#ground.openAgain(clock))
      await work(backends.map((backend) => new Bench(backend as Program, clock)))
    } finally {
      for (const backend of backends) await backend[Symbol.asyncDispose]()
    }
  }

  /**
   * Runs statements of somebody else in a transaction, begins `work`, waits until that waits for them, and commits. Gives what `work`
   * gives.
   */
  async inTheWay<Answer>(statements: readonly string[], work: () => Promise<Answer>): Promise<Answer> {
    const { query } = this.#ground
    await query('BEGIN')
    try {
      for (const statement of statements) await query(statement)
      let isOver = false
      const answer = work().finally(() => (isOver = true))
      answer.catch(() => {})
      do await pause(systemClock, lookEveryMs)
      while (!isOver && (await query(waitingForMe[this.#engine])).length === 0)
      expect(isOver, 'it did not wait for what was in its way').toBe(false)
      await query('COMMIT')
      return await answer
    } catch (thrown) {
      await query('ROLLBACK')
      throw thrown
    }
  }

  faults(): Promise<readonly string[]> {
    return this.#ground.faults()
  }

  query<Row>(sql: string): Promise<readonly Row[]> {
    return this.#ground.query<Row>(sql)
  }
}

const waitingForMyTransaction = 'SELECT 1 FROM sys.innodb_lock_waits WHERE blocking_pid = CONNECTION_ID()'

const waitingForMe: Readonly<Record<SqlEngine, string>> = {
  postgres: 'SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))',
  mariadb: waitingForMyTransaction,
  mysql: waitingForMyTransaction,
}
