import type { Connection } from '../file/connection.ts'
import type { SqliteStatement } from '../file/driver.ts'

/** Maximum number of stamps: a program whose jobs all differ would gain nothing from more. */
const mostStamps = 10_000
/** Maximum number of texts seen once to remember until they are seen again. */
const mostNewcomers = 256

/**
 * How the part that jobs share ends. An identity with its own key, meta, instant or repeat ends differently and has little in
 * common with others.
 */
const shared = ',null,null]'

/**
 * The endings of identities, each stored once. Jobs of one kind differ only in their ids, and a row that does not repeat the rest
 * is a third shorter. A text gets a stamp the second time it is seen; until then, it is stored in the row itself.
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

  /** Null if the text has to be stored in the row. Call only inside a transaction. */
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

  /** A missing stamp gives an empty text, so that only its own jobs are refused. */
  textsOf(stamps: readonly number[]): readonly string[] {
    return stamps.map((stamp) => (this.#get.get(stamp) as { text: string } | undefined)?.text ?? '')
  }

  /** Called after a rollback, which may have undone stamps that were stored. */
  forget(): void {
    for (const text of this.#numbers.keys()) this.#newcomers.add(text)
    this.#numbers.clear()
  }
}
