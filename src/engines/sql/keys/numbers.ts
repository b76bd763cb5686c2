import { type Steps, wait } from '../../../core/answer.ts'
import type { SendReceipt } from '../../../queue/contract/contract.ts'
import type { JobNumbers } from '../../../queue/contract/store.ts'
import { isJobId } from '../rows/lease-token.ts'
import type { PlainRow } from '../rows/sent-rows.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Stepped } from '../stepped.ts'

/** The small numbers by which other programs refer to jobs. */
export class Numbers {
  /** The jobs that have the numbers of these rows. */
  *holders(session: SqlSession, rows: readonly PlainRow[]): Steps<ReadonlyMap<number, string>> {
    const found = yield* jobsWith(
      session,
      rows.flatMap(({ number }) => number ?? []),
    )
    return new Map(found.map(({ id, number }) => [number, id]))
  }

  /** For a row that was not stored, returns the job that already has its number. */
  *namesakes(session: SqlSession, rows: readonly PlainRow[], receipts: readonly SendReceipt[]): Steps<readonly SendReceipt[]> {
    const refused = rows.filter(({ number }, index) => number !== undefined && receipts[index]?.stored === false)
    if (refused.length === 0) return receipts
    const holders = yield* this.holders(session, refused)
    return receipts.map((receipt, index) => {
      const { number } = rows[index] as PlainRow
      const holder = number === undefined || receipt.stored ? undefined : holders.get(number)
      return holder === undefined ? receipt : { ...receipt, id: holder }
    })
  }
}

/** Gives numbers to jobs, and finds jobs by number. */
export function sqlNumbers(database: SqlDatabase): Stepped<JobNumbers> {
  return {
    reserve: (count) => wait(database.transaction((session) => take(session, count))),
    assign: (ids) => assign(database, ids),
    *find(numbers) {
      const found = yield* jobsWith(database, numbers)
      const ids = new Map(found.map(({ id, number }) => [number, id]))
      return numbers.map((number) => ids.get(number) ?? null)
    },
  }
}

/** Concurrent callers take numbers one after the other: the row stays locked until the transaction ends. */
function* take(session: SqlSession, count: number): Steps<number> {
  yield* wait(session.run('UPDATE {numbers} SET next = next + ? WHERE one = 1', [count]))
  const [row] = yield* wait(session.all<{ next: number }>('SELECT next FROM {numbers} WHERE one = 1'))
  return (row?.next as number) - count
}

function* assign(database: SqlDatabase, ids: readonly string[]): Steps<readonly (number | null)[]> {
  const known = [...new Set(ids)].filter(isJobId).sort()
  if (known.length === 0) return ids.map(() => null)
  const numbers = yield* wait(
    database.transaction(function* (session) {
      const rows = yield* wait(
        session.all<{ id: string; number: number | null }>(
          'SELECT id, number FROM {jobs by PRIMARY} WHERE id IN (?) ORDER BY id FOR UPDATE',
          [known],
        ),
      )
      const without = rows.filter(({ number }) => number === null)
      const first = without.length === 0 ? 0 : yield* take(session, without.length)
      const given = without.map(({ id }, index) => ({ id, number: first + index }))
      yield* wait(session.update('jobs', ['id'], ['number'], given))
      return new Map([...rows, ...given].map(({ id, number }) => [id, number]))
    }),
  )
  return ids.map((id) => numbers.get(id) ?? null)
}

function* jobsWith(
  session: SqlSession,
  numbers: readonly number[],
): Steps<readonly { readonly id: string; readonly number: number }[]> {
  if (numbers.length === 0) return []
  return yield* wait(session.all('SELECT id, number FROM {jobs} WHERE number IN (?)', [numbers]))
}
