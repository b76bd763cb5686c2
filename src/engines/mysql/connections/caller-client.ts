import { TreadleError } from '../../../core/errors.ts'
import { ask } from './asking.ts'
import { type Charsets, charsetColumns, charsetProblems } from './charsets.ts'
import type { MysqlQuery, MysqlQueryable } from './client.ts'

/**
 * A connection that belongs to a caller. Its charset is checked before the first statement, because with another one the queue
 * would read altered text; what it writes is safe on every connection.
 */
export class CallerClient implements MysqlQueryable {
  readonly #client: MysqlQueryable
  readonly #connection: object
  readonly #limits = { maxPacketBytes: Number.POSITIVE_INFINITY, longestMs: null }

  /** `connection` identifies the connection to the server for as long as that connection lives. */
  constructor(client: MysqlQueryable, connection: object) {
    this.#client = client
    this.#connection = connection
  }

  async query(query: MysqlQuery): Promise<readonly [unknown, unknown]> {
    if (!seen.has(this.#connection)) {
      const [charsets] = (await ask(this.#client, question, this.#limits)) as readonly [Charsets]
      refuse(charsetProblems(charsets))
      seen.add(this.#connection)
    }
    const answer = await this.#client.query(query)
    refuse(changedFields(answer[1]))
    return answer
  }
}

const question = `SELECT ${charsetColumns}`

/** Connections that were already checked. */
const seen = new WeakSet<object>()

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return
  const message = `The charset of the transaction's connection ${problems.join('; ')}: texts would be changed in transit. Open it with charset: 'utf8mb4', and keep it so (SET NAMES utf8mb4)`
  throw new TreadleError('TRANSACTION_INVALID', message)
}

/** Encodings that `mysql2` reports for unaltered columns: utf8mb4, ASCII ids and numbers. */
const unchanged: ReadonlySet<unknown> = new Set(['utf8', 'ascii', 'binary', undefined])

/** The caller may have changed the charset since the check. `mysql2` reports the charset of the rows with each result. */
function changedFields(fields: unknown): readonly string[] {
  if (!Array.isArray(fields)) return []
  const other = fields.find((field: { readonly encoding?: unknown } | undefined) => !unchanged.has(field?.encoding))
  return other === undefined ? [] : [`must be utf8mb4, and has become ${other.encoding}`]
}
