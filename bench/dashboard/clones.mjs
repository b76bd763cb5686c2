// Very many ended jobs, made in the database from one that has really run: to run a million takes many minutes.

/** Columns that the clones have of their own, or that the database fills in. */
const own = ['id', 'identity', 'number', 'place', 'place_grp', 'place_at', 'crowd_place', 'listed_place']

/** Adds `count` succeeded jobs like `id`, each with an id of its own, newer than that one. */
export async function addClones(url, id, count) {
  const { protocol, pathname } = new URL(url)
  if (protocol === 'sqlite:') return inSqlite(pathname, id, count)
  return protocol === 'postgres:' ? inPostgres(url, id, count) : inMysql(url, id, count)
}

async function inSqlite(path, id, count) {
  const name = '@photostructure/sqlite'
  const { DatabaseSync } = await import('node:sqlite').catch(() => import(name))
  const database = new DatabaseSync(path)
  const columns = database
    .prepare('PRAGMA table_info(treadle_jobs)')
    .all()
    .map((column) => column.name)
  const copied = columns.filter((column) => !own.includes(column)).join(', ')
  const { lane } = database.prepare('SELECT lane FROM treadle_jobs WHERE id = ?').get(id)
  database.exec(`BEGIN;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO treadle_jobs (id, identity, ${copied})
      SELECT ${cloneId(id, "printf('%07x', i)", 'substr')}, replace(identity, id, ${cloneId(id, "printf('%07x', i)", 'substr')}), ${copied}
      FROM n, treadle_jobs WHERE id = '${id}';
    UPDATE treadle_counts SET jobs = jobs + ${count} WHERE state = 4 AND lane IN (0, ${lane});
    COMMIT;
    ANALYZE;`)
  database.close()
}

async function inPostgres(url, id, count) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'treadle' AND table_name = 'jobs'",
  )
  const copied = rows
    .map(({ name }) => name)
    .filter((name) => !own.includes(name))
    .join(', ')
  const clone = cloneId(id, "lpad(to_hex(i), 7, '0')")
  await client.query(
    `INSERT INTO treadle.jobs (id, identity, ${copied})
     SELECT (${clone})::uuid, replace(identity, id::text, ${clone}), ${copied}
     FROM generate_series(1, ${count}) AS i, treadle.jobs WHERE id = '${id}'`,
  )
  await client.query(
    `INSERT INTO treadle.counts (lane, state, jobs) SELECT lane, 4, ${count} FROM treadle.jobs WHERE id = '${id}'`,
  )
  await client.query('VACUUM ANALYZE treadle.jobs')
  await client.end()
}

async function inMysql(url, id, count) {
  const { createConnection } = await import('mysql2/promise')
  const client = await createConnection({ uri: url })
  const [rows] = await client.query(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'treadle_jobs'",
  )
  const copied = rows
    .map(({ name }) => name)
    .filter((name) => !own.includes(name))
    .join(', ')
  const clone = `CONCAT(${cloneId(id, "'|', LPAD(HEX(seq), 7, '0')").replaceAll(' || ', ', ').replaceAll("'|', ", '')})`
  await client.query(
    `INSERT INTO treadle_jobs (id, identity, ${copied})
     SELECT LOWER(${clone}), REPLACE(identity, id, LOWER(${clone})), ${copied} FROM seq_1_to_${count}, treadle_jobs WHERE id = '${id}'`,
  )
  await client.query(
    `INSERT INTO treadle_counts (lane, state, jobs) SELECT lane, 4, ${count} FROM treadle_jobs WHERE id = '${id}'`,
  )
  await client.query('ANALYZE TABLE treadle_jobs')
  await client.end()
}

/** The id with another last part: it begins with the same instant, and is greater than the first one's. */
function cloneId(id, number) {
  return `'${id.slice(0, 28)}' || 'f' || ${number}`
}
