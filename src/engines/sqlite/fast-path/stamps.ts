import type { Connection } from '../file/connection.ts'
import type { SqliteStatement } from '../file/driver.ts'

/** More are not kept: whoever writes something else into every job gains nothing by them. */
const mostStamps = 10_000
/** So many texts that came once are remembered, until they come again. */
const mostNewcomers = 256

/** An identity with a key, a meta, an instant or a repeat of its own ends otherwise, and has little in common with others. */
const shared = ',null,null]'

/**
 * What identities end with, each text once: jobs of one kind differ in their ids alone, and a row that does not repeat the rest is
 * a third shorter. A text is kept from the second time that it comes; before that, it stands in its rows.
 */
export class Stamps {
  readonly #numbers = new Map<string, number>()
  readonly #newcomers = new Set<string>()
  readonly #find: SqliteStatement
  readonly #keep: SqliteStatement
  readonly #get: SqliteStatement

  constructor(connection: Connection) {
    this.#find = connection.prepare('SELECT stamp FROM treadle_stamps WHERE text = ?')
    this.#keep = connection.prepare(
      `INSERT INTO treadle_stamps (text) SELECT ? WHERE (SELECT coalesce(max(stamp), 0) FROM treadle_stamps) < ${mostStamps}
       RETURNING stamp`,
    )
    this.#get = connection.prepare('SELECT text FROM treadle_stamps WHERE stamp = ?')
  }

  /** Null where the text is to stand in the row. Only inside a transaction. */
  numberOf(text: string): number | null {
    if (!text.endsWith(shared)) return null
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    if (!this.#newcomers.delete(text)) {
      if (this.#newcomers.size >= mostNewcomers) this.#newcomers.clear()
      this.#newcomers.add(text)
      return null
    }
    const row = (this.#find.get(text) ?? this.#keep.get(text)) as { stamp: number } | undefined
    if (row !== undefined) this.#numbers.set(text, row.stamp)
    return row?.stamp ?? null
  }

  /** One that is gone is an empty text: its jobs are refused, and no others. */
  textsOf(stamps: readonly number[]): readonly string[] {
    return stamps.map((stamp) => (this.#get.get(stamp) as { text: string } | undefined)?.text ?? '')
  }

  /** After a rollback: those that were kept may never have been. */
  forget(): void {
    for (const text of this.#numbers.keys()) this.#newcomers.add(text)
    this.#numbers.clear()
  }
}
