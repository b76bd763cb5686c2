import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'

/** The small numbers by which other programs know jobs. */
export class Numbers {
  readonly #addresses: Addresses
  readonly #take: SqliteStatement
  readonly #of: SqliteStatement
  readonly #give: SqliteStatement
  readonly #holder: SqliteStatement

  constructor(connection: Connection, addresses: Addresses) {
    this.#addresses = addresses
    this.#take = connection.prepare('UPDATE treadle_numbers SET next = next + ?1 RETURNING next - ?1 AS first')
    this.#of = connection.prepare('SELECT number FROM treadle_jobs WHERE seq = ?')
    this.#give = connection.prepare('UPDATE treadle_jobs SET number = ? WHERE seq = ?')
    this.#holder = connection.prepare('SELECT id FROM treadle_jobs WHERE number = ?')
  }

  reserve(count: number): number {
    return (this.#take.get(count) as { first: number }).first
  }

  assign(ids: readonly string[]): readonly (number | null)[] {
    return ids.map((id) => {
      const seq = this.#addresses.find(id)
      return seq === undefined ? null : this.#assignOne(seq)
    })
  }

  find(numbers: readonly number[]): readonly (string | null)[] {
    return numbers.map((number) => this.holder(number) ?? null)
  }

  /** The id of the job that has this number. */
  holder(number: number | null): string | undefined {
    return number === null ? undefined : (this.#holder.get(number) as { id: string } | undefined)?.id
  }

  #assignOne(seq: number): number {
    const { number } = this.#of.get(seq) as { number: number | null }
    if (number !== null) return number
    const given = this.reserve(1)
    this.#give.run(given, seq)
    return given
  }
}
