import type { SendReceipt } from '../contract.ts'
import type { JobNumbers } from '../store.ts'
import type { PlainRow } from './sent-rows.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import { isJobId } from './token.ts'

/** The small numbers by which other programs know jobs. */
export class Numbers {
  /** The jobs that have the numbers of these rows. */
  async holders(session: SqlSession, rows: readonly PlainRow[]): Promise<ReadonlyMap<number, string>> {
    const found = await jobsWith(
      session,
      rows.flatMap(({ number }) => number ?? []),
    )
    return new Map(found.map(({ id, number }) => [number, id]))
  }

  /** For a row that was not stored, the job that has its number stands. */
  async namesakes(
    session: SqlSession,
    rows: readonly PlainRow[],
    receipts: readonly SendReceipt[],
  ): Promise<readonly SendReceipt[]> {
    const refused = rows.filter(({ number }, index) => number !== undefined && receipts[index]?.stored === false)
    if (refused.length === 0) return receipts
    const holders = await this.holders(session, refused)
    return receipts.map((receipt, index) => {
      const { number } = rows[index] as PlainRow
      const holder = number === undefined || receipt.stored ? undefined : holders.get(number)
      return holder === undefined ? receipt : { ...receipt, id: holder }
    })
  }
}

/** Gives numbers to jobs, and finds jobs by them. */
export function sqlNumbers(database: SqlDatabase): JobNumbers {
  return {
    reserve: (count) => database.transaction((session) => take(session, count)),
    assign: (ids) => assign(database, ids),
    async find(numbers) {
      const found = await jobsWith(database, numbers)
      const ids = new Map(found.map(({ id, number }) => [number, id]))
      return numbers.map((number) => ids.get(number) ?? null)
    },
  }
}

/** Those who come together take them one after the other: the row is held until the transaction ends. */
async function take(session: SqlSession, count: number): Promise<number> {
  await session.run('UPDATE {numbers} SET next = next + ? WHERE one = 1', [count])
  const [row] = await session.all<{ next: number }>('SELECT next FROM {numbers} WHERE one = 1')
  return (row?.next as number) - count
}

async function assign(database: SqlDatabase, ids: readonly string[]): Promise<readonly (number | null)[]> {
  const known = [...new Set(ids)].filter(isJobId).sort()
  if (known.length === 0) return ids.map(() => null)
  const numbers = await database.transaction(async (session) => {
    const rows = await session.all<{ id: string; number: number | null }>(
      'SELECT id, number FROM {jobs by PRIMARY} WHERE id IN (?) ORDER BY id FOR UPDATE',
      [known],
    )
    const without = rows.filter(({ number }) => number === null)
    const first = without.length === 0 ? 0 : await take(session, without.length)
    const given = without.map(({ id }, index) => ({ id, number: first + index }))
    await session.update('jobs', ['id'], ['number'], given)
    return new Map([...rows, ...given].map(({ id, number }) => [id, number]))
  })
  return ids.map((id) => numbers.get(id) ?? null)
}

async function jobsWith(
  session: SqlSession,
  numbers: readonly number[],
): Promise<readonly { readonly id: string; readonly number: number }[]> {
  if (numbers.length === 0) return []
  return session.all('SELECT id, number FROM {jobs} WHERE number IN (?)', [numbers])
}
