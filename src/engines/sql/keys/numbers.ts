import { type Steps, wait } from '../../../core/answer.ts'
import type { JobNumbers } from '../../../queue/contract/store.ts'
import { isNumber, lastNumber } from '../../../queue/model/job-number.ts'
import { isJobId } from '../rows/lease-token.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Stepped } from '../stepped.ts'

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

/**
 * Concurrent callers take numbers one after the other: the row stays locked until the transaction ends. If somebody has spoilt the
 * counter or set it back, it continues after the last number that a job has.
 */
function* take(session: SqlSession, count: number): Steps<number> {
  yield* wait(session.run('UPDATE {numbers} SET next = next + ? WHERE one = 1 AND next >= 1 AND next <= ?', [count, lastNumber]))
  const lastOfJobs = 'SELECT number FROM {jobs} WHERE number < ? ORDER BY number DESC LIMIT 1'
  const [row] = yield* wait(
    session.all<{ next: number; last: number | null }>(`SELECT next, (${lastOfJobs}) AS last FROM {numbers} WHERE one = 1`, [
      lastNumber,
    ]),
  )
  const first = Number(row?.next) - count
  const given = Math.max(row?.last ?? 0, 0)
  if (isNumber(first) && first > given) return first
  yield* wait(session.upsert('numbers', ['one', 'next'], [{ one: 1, next: given + 1 + count }], ['one'], ['next']))
  return given + 1
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

/** The jobs that have these numbers. */
export function* jobsWith(
  session: SqlSession,
  numbers: readonly number[],
): Steps<readonly { readonly id: string; readonly number: number }[]> {
  if (numbers.length === 0) return []
  return yield* wait(session.all('SELECT id, number FROM {jobs} WHERE number IN (?)', [numbers]))
}
