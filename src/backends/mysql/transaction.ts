import type { MysqlQueryable } from './client.ts'
import { ask, MysqlSession, type MysqlSessionOptions } from './session.ts'

/** Characters. So much is sent before more is written. */
const longestWait = 500_000

/**
 * The statements of one transaction. A round trip costs more than most of them, so what gives no answer (the beginning, writes)
 * waits, and travels together with the next one that does, or with the commit.
 */
export class MysqlTransaction extends MysqlSession {
  readonly #client: MysqlQueryable
  readonly #canCombine: boolean
  #waiting: string[]

  constructor(client: MysqlQueryable, options: MysqlSessionOptions, beginning: readonly string[]) {
    super(client, options)
    this.#client = client
    this.#canCombine = options.canCombine
    this.#waiting = [...beginning]
  }

  async commit(): Promise<void> {
    await this.query('COMMIT')
  }

  /** What still waits is not sent at all. */
  async rollback(): Promise<void> {
    this.#waiting = []
    await this.query('ROLLBACK')
  }

  protected override async query(sql: string): Promise<unknown> {
    const statements = [...this.#waiting, sql]
    this.#waiting = []
    return (await this.#send(statements)).at(-1)
  }

  protected override async write(sql: string): Promise<void> {
    this.#waiting.push(sql)
    if (this.#waiting.reduce((length, { length: more }) => length + more, 0) > longestWait) await this.written()
  }

  protected override async written(): Promise<void> {
    const statements = this.#waiting
    this.#waiting = []
    await this.#send(statements)
  }

  async #send(statements: readonly string[]): Promise<readonly unknown[]> {
    if (statements.length > 1 && this.#canCombine) return (await ask(this.#client, statements.join(';\n'))) as unknown[]
    const answers: unknown[] = []
    for (const sql of statements) answers.push(await ask(this.#client, sql))
    return answers
  }
}
