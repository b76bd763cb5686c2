import pg from 'pg'

/** Counts the times that a connection was asked for: outside of transactions, that is once for each statement. */
export class CountingPool extends pg.Pool {
  statements = 0
  readonly #connect = super.connect.bind(this) as () => Promise<pg.PoolClient>

  override connect = (async () => {
    this.statements++
    return this.#connect()
  }) as pg.Pool['connect']

  async statementsOf(work: () => Promise<unknown>): Promise<number> {
    const before = this.statements
    await work()
    return this.statements - before
  }
}
