// The ceiling of PostgreSQL: its plain driver, on one connection, with the fewest statements that a durable queue could do with.
import pg from 'pg'

const batch = 500

/** @type {import('./contestant.mjs').Open} */
export async function openRawPostgres(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    'CREATE TABLE IF NOT EXISTS jobs (id BIGSERIAL PRIMARY KEY, payload TEXT NOT NULL, state SMALLINT NOT NULL DEFAULT 0)',
  )
  await client.query('CREATE INDEX IF NOT EXISTS jobs_ready ON jobs (id) WHERE state = 0')
  const prepared = (name, text) => (values) => client.query({ name, text, values })
  const insert = prepared('insert', 'INSERT INTO jobs (payload) SELECT unnest($1::text[])')
  const lease = prepared(
    'lease',
    `UPDATE jobs SET state = 1
      WHERE id IN (SELECT id FROM jobs WHERE state = 0 ORDER BY id LIMIT ${batch} FOR UPDATE SKIP LOCKED)
      RETURNING id, payload`,
  )
  const remove = prepared('remove', 'DELETE FROM jobs WHERE id = ANY($1::bigint[])')
  return {
    addMany: (payloads) => insert([payloads.map((payload) => JSON.stringify(payload))]),
    // Two commits for each batch: the lease must be on disk before a handler runs, the end after it.
    async drain(_concurrency, count) {
      for (let left = count; left > 0; ) {
        const { rows } = await lease([])
        if (rows.length === 0) throw new Error(`The plain driver found ${left} jobs too few`)
        await remove([rows.map(({ id }) => id)])
        left -= rows.length
      }
    },
    close: () => client.end(),
  }
}
