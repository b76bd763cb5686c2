import { openSqlite } from 'treadle/sqlite'
import type { Clock } from '../../src/core/time/clock.ts'
import { tableOf } from '../../src/engines/sqlite/statements.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { execute, query, scratchFolder } from '../processes/database.ts'
import { faultsIn, type Query } from './sql-faults.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Queues in files, one after the other. */
export class SqliteGround {
  readonly #folder = scratchFolder()
  #files = 0

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#folder.remove()
  }

  get file(): string {
    return this.#folder.file(`${this.#files}.db`)
  }

  /** A queue that holds nothing. */
  open(clock: Clock): Promise<QueueBackend> {
    this.#files++
    return this.openAgain(clock)
  }

  /** The queue as it is. */
  openAgain(clock: Clock): Promise<QueueBackend> {
    return openSqlite({ path: this.file, clock, logger: silent })
  }

  readonly query: Query = async (sql) => {
    const text = sql.replaceAll(/\{(\w+)\}/g, (_, table: string) => tableOf(table))
    if (/^\s*SELECT/.test(text)) return query(this.file, text)
    execute(this.file, text)
    return []
  }

  faults(): Promise<readonly string[]> {
    return faultsIn(this.query, 'counts')
  }
}
