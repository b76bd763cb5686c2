import type { EngineTransaction } from '../../sql/connections/pooled-database.ts'
import { ask } from './asking.ts'
import type { MysqlQueryable } from './client.ts'
import { MysqlSession, type MysqlSessionOptions } from './session.ts'

/** How many characters of statements to hold back before sending them. */
const longestWait = 500_000

/** Statements to send before and after all others. */
export interface TransactionBounds {
  readonly beginning: readonly string[]
  readonly ending: readonly string[]
}

/**
 * Runs the statements of one transaction. A round trip costs more than most statements, so those without a result (the beginning,
 * writes) are held back and sent with the next one that has a result, or with the commit.
 */
export class MysqlTransaction extends MysqlSession implements EngineTransaction {
  readonly #client: MysqlQueryable
  readonly #options: MysqlSessionOptions
  #beginning: readonly string[]
  readonly #ending: readonly string[]
  #waiting: string[] = []

  constructor(client: MysqlQueryable, options: MysqlSessionOptions, { beginning, ending }: TransactionBounds) {
    super(client, options)
    this.#client = client
    this.#options = options
    this.#beginning = beginning
    this.#ending = ending
  }

  async commit(): Promise<void> {
    if (this.#hasBegun || this.#waiting.length > 0) await this.#end('COMMIT')
  }

  /** Statements still held back are never sent. */
  async rollback(): Promise<void> {
    this.#waiting = []
    if (this.#hasBegun) await this.#end('ROLLBACK')
  }

  async #end(sql: string): Promise<void> {
    const statements = [...this.#beginning, ...this.#waiting, sql, ...this.#ending]
    this.#beginning = []
    this.#waiting = []
    await this.#send(statements)
  }

  get #hasBegun(): boolean {
    return this.#beginning.length === 0
  }

  protected override async query(sql: string): Promise<unknown> {
    const statements = [...this.#beginning, ...this.#waiting, sql]
    this.#beginning = []
    this.#waiting = []
    return (await this.#send(statements)).at(-1)
  }

  protected override async write(sql: string): Promise<void> {
    this.#waiting.push(sql)
    if (lengthOf(this.#waiting) > longestWait) await this.written()
  }

  protected override async written(): Promise<void> {
    const last = this.#waiting.pop()
    if (last !== undefined) await this.query(last)
  }

  async #send(statements: readonly string[]): Promise<readonly unknown[]> {
    const { canCombine, maxPacketBytes } = this.#options
    if (canCombine && statements.length > 1 && lengthOf(statements) < maxPacketBytes) {
      return (await ask(this.#client, statements.join(';\n'), this.#options)) as unknown[]
    }
    const answers: unknown[] = []
    for (const sql of statements) answers.push(await ask(this.#client, sql, this.#options))
    return answers
  }
}

function lengthOf(statements: readonly string[]): number {
  return statements.reduce((length, sql) => length + sql.length + 2, 0)
}
