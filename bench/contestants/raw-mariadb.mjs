// The ceiling of MariaDB: its plain driver, on one connection, with the fewest statements that a durable queue could do with.
import { createConnection } from 'mysql2/promise'

const batch = 500
const rowsPerInsert = 1_000

/** @type {import('./contestant.mjs').Open} */
export async function openRawMariadb(url) {
  const connection = await createConnection(url)
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
  await connection.query(
    `CREATE TABLE IF NOT EXISTS jobs (
      id BIGINT AUTO_INCREMENT PRIMARY KEY, payload TEXT NOT NULL, state TINYINT NOT NULL DEFAULT 0, KEY ready (state, id)
    ) ENGINE = InnoDB`,
  )

  async function transaction(work) {
    await connection.beginTransaction()
    const answer = await work()
    await connection.commit()
    return answer
  }

  async function lease() {
    const [rows] = await connection.query(
      `SELECT id, payload FROM jobs WHERE state = 0 ORDER BY id LIMIT ${batch} FOR UPDATE SKIP LOCKED`,
    )
    if (rows.length > 0) await connection.query('UPDATE jobs SET state = 1 WHERE id IN (?)', [rows.map(({ id }) => id)])
    return rows
  }

  return {
    async addMany(payloads) {
      await transaction(async () => {
        for (let from = 0; from < payloads.length; from += rowsPerInsert) {
          const rows = payloads.slice(from, from + rowsPerInsert).map((payload) => [JSON.stringify(payload)])
          await connection.query('INSERT INTO jobs (payload) VALUES ?', [rows])
        }
      })
    },
    // Two commits for each batch: the lease must be on disk before a handler runs, the end after it.
    async drain(_concurrency, count) {
      for (let left = count; left > 0; ) {
        const leased = await transaction(lease)
        if (leased.length === 0) throw new Error(`The plain driver found ${left} jobs too few`)
        await connection.query('DELETE FROM jobs WHERE id IN (?)', [leased.map(({ id }) => id)])
        left -= leased.length
      }
    },
    close: () => connection.end(),
  }
}
