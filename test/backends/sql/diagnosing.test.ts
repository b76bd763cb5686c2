import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/time/clock.ts'
import { openMysqlUpkeep } from '../../../src/engines/mysql/index.ts'
import { openPostgresUpkeep } from '../../../src/engines/postgres/index.ts'
import { postgresMigrations } from '../../../src/engines/postgres/schema/migrations.ts'
import type { Finding } from '../../../src/queue/upkeep/diagnosis.ts'
import { mysqlUrl, type SqlEngine } from '../../services.ts'
import { SqlGround } from '../sql-ground.ts'

const latest = postgresMigrations.length
const engines: readonly SqlEngine[] = mysqlUrl() === null ? ['postgres', 'mariadb'] : ['postgres', 'mariadb', 'mysql']

describe.each(engines)('a look at a queue in %s', (engine) => {
  let ground: SqlGround
  beforeAll(async () => {
    ground = new SqlGround(engine)
    await ground.start()
  })
  afterAll(() => ground.stop())
  beforeEach(async () => {
    await (await ground.openAgain(systemClock))[Symbol.asyncDispose]()
  })

  test('finds nothing wrong with one that is well, but for what a test server may not do for durability', async () => {
    const findings = await diagnose()
    const wrong = findings.filter(({ verdict }) => verdict !== 'ok').map(({ check }) => check)
    expect(wrong.filter((check) => check !== 'durability')).toEqual([])
    expect(findings.every(({ verdict, advice }) => (verdict === 'ok') === (advice === null))).toBe(true)
    const name = engine === 'postgres' ? /^PostgreSQL \d+/ : /^(MariaDB|MySQL) \d+/
    expect(of(findings, 'server').found).toMatch(name)
    expect(of(findings, 'schema').found).toBe(`version ${latest}`)
    if (wrong.length > 0) expect(of(findings, 'durability').advice).toContain('power failure')
  })

  test('finds an index that is missing, and a table', async () => {
    const drop = engine === 'postgres' ? 'DROP INDEX treadle.locks_expiry' : 'DROP INDEX locks_expiry ON {locks}'
    await ground.query(drop)
    await ground.query('DROP TABLE {paused}')
    const findings = await diagnose()
    expect(of(findings, 'indexes')).toMatchObject({ verdict: 'problem', found: expect.stringContaining('locks_expiry') })
    expect(of(findings, 'tables')).toMatchObject({ verdict: 'problem', found: 'missing: paused' })
    await ground.query(engine === 'postgres' ? 'DROP SCHEMA treadle CASCADE' : 'DELETE FROM {migrations}')
    await (await ground.openAgain(systemClock))[Symbol.asyncDispose]()
    await ground.query(engine === 'postgres' ? 'SELECT 1' : 'CREATE INDEX locks_expiry ON {locks} (expires_at)')
    expect(of(await diagnose(), 'tables').verdict).toBe('ok')
  })

  test('tells the statement that makes an index which is missing, and finds a column that is', async () => {
    await ground.query(engine === 'postgres' ? 'DROP INDEX treadle.locks_expiry' : 'DROP INDEX locks_expiry ON {locks}')
    await ground.query('ALTER TABLE {once} DROP COLUMN result')
    const findings = await diagnose()
    const advice = of(findings, 'indexes').advice ?? ''
    expect(advice).toMatch(/^Run: CREATE INDEX locks_expiry ON treadle[._]locks \(expires_at\);$/)
    expect(of(findings, 'tables')).toMatchObject({ verdict: 'problem', found: 'missing: once.result' })
    await ground.query(advice.replace('Run: ', ''))
    await ground.query(`ALTER TABLE {once} ADD COLUMN result ${engine === 'postgres' ? 'text' : 'LONGTEXT'}`)
    const mended = await diagnose()
    expect([of(mended, 'indexes').verdict, of(mended, 'tables').verdict]).toEqual(['ok', 'ok'])
  })

  test.runIf(engine === 'postgres')('tells the statements that give a user the rights that are missing', async () => {
    const name = new URL(ground.url).pathname.slice(1)
    const login = `u_${name}`
    await ground.query(`CREATE USER ${login} PASSWORD 'secret'`)
    const url = ground.url.replace(/\/\/[^@]*@/, `//${login}:secret@`)
    const rights = async (schema: string) => of(await diagnose(systemClock, `${url}?schema=${schema}`), 'rights')
    const tables = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA treadle TO ${login};`
    expect(await rights('other')).toMatchObject({
      verdict: 'problem',
      found: 'it may not create the schema',
      advice: `An administrator can run: GRANT CREATE ON DATABASE ${name} TO ${login};`,
    })
    expect(await rights('treadle')).toMatchObject({
      verdict: 'problem',
      found: 'it may not use the schema',
      advice: `An administrator can run: GRANT USAGE ON SCHEMA treadle TO ${login}; ${tables}`,
    })
    await ground.query(`GRANT USAGE ON SCHEMA treadle TO ${login}`)
    expect(await rights('treadle')).toMatchObject({
      found: expect.stringMatching(/^it may not DELETE in counts, and \d+ more$/),
      advice: `An administrator can run: ${tables}`,
    })
    await ground.query(tables)
    expect(await rights('treadle')).toMatchObject({ verdict: 'ok', found: 'it may read and write' })
    await ground.query(`DROP OWNED BY ${login}`)
    await ground.query(`DROP USER ${login}`)
  })

  test.runIf(engine === 'postgres')('finds limits of the user that are shorter than the queue needs', async () => {
    const name = new URL(ground.url).pathname.slice(1)
    await ground.query(`ALTER DATABASE ${name} SET lock_timeout = '1s'`)
    await ground.query(`ALTER DATABASE ${name} SET statement_timeout = '45s'`)
    expect(of(await diagnose(), 'timeouts')).toMatchObject({
      verdict: 'warning',
      found: 'lock_timeout = 1s: calls that wait for each other fail',
      advice: expect.stringMatching(/^Run: ALTER ROLE \w+ IN DATABASE \w+ SET lock_timeout = 30000;$/),
    })
    await ground.query(`ALTER DATABASE ${name} RESET ALL`)
    expect(of(await diagnose(), 'timeouts').verdict).toBe('ok')
  })

  test('finds a schema that is too old or too new, and tells whether that matters', async () => {
    await ground.query(`INSERT INTO {migrations} (version, compatible_from, applied_at) VALUES (${latest + 1}, 1, 0)`)
    expect(of(await diagnose(), 'schema')).toMatchObject({
      verdict: 'warning',
      found: `version ${latest + 1}, newer than this Treadle's ${latest}`,
    })
    await ground.query(`UPDATE {migrations} SET compatible_from = ${latest + 1} WHERE version = ${latest + 1}`)
    expect(of(await diagnose(), 'schema')).toMatchObject({ verdict: 'problem', advice: 'Update the package.' })
    await ground.query('DELETE FROM {migrations}')
    expect(of(await diagnose(), 'schema')).toMatchObject({ verdict: 'problem', advice: 'Run: npx treadle migrate' })
    await ground.query(`INSERT INTO {migrations} (version, compatible_from, applied_at) VALUES (${latest}, 1, 0)`)
  })

  test.each([
    [3_000, 'warning', /the server's clock is [1-4]\d{3} ms behind/],
    [-60_000, 'problem', /the server's clock is [56]\d{4} ms ahead/],
  ] as const)('finds that the clock of the program is %i ms ahead of that of the server', async (ahead, verdict, found) => {
    const clock = { ...systemClock, now: () => systemClock.now() + ahead }
    expect(of(await diagnose(clock), 'clock')).toMatchObject({ verdict, found: expect.stringMatching(found) })
  })

  test.runIf(engine === 'postgres')('finds an index that is invalid, a level of isolation, and dead rows', async () => {
    const name = new URL(ground.url).pathname.slice(1)
    await ground.query("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'treadle.rates_expiry'::regclass")
    await ground.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`)
    await ground.query('ALTER TABLE {once} SET (autovacuum_enabled = false)')
    await ground.query(
      "INSERT INTO {once} (once_key, job_id, claimed_at) SELECT n::text, '', 0 FROM generate_series(1, 60000) AS n",
    )
    await ground.query('DELETE FROM {once}')
    // Newer servers can be told to count now.
    await ground.query('SELECT pg_stat_force_next_flush()').catch(() => {})
    const look = async () => of(await diagnose(), 'vacuum')
    await expect.poll(look, { timeout: 20_000 }).toMatchObject({
      verdict: 'warning',
      found: expect.stringMatching(/^\d+ dead rows in once, last vacuum: never$/),
    })
    const findings = await diagnose()
    const advice = 'Run: REINDEX INDEX CONCURRENTLY treadle.rates_expiry;'
    expect(of(findings, 'indexes')).toMatchObject({ verdict: 'problem', found: 'invalid: treadle.rates_expiry', advice })
    expect(of(findings, 'isolation')).toMatchObject({ verdict: 'warning', found: 'serializable' })
    await ground.query('VACUUM {once}')
    await ground.query('REINDEX INDEX treadle.rates_expiry')
    await ground.query(`ALTER DATABASE ${name} RESET default_transaction_isolation`)
    expect((await diagnose()).filter(({ verdict }) => verdict === 'problem').map(({ check }) => check)).toEqual(['durability'])
  })

  async function diagnose(clock: Clock = systemClock, url = ground.url): Promise<readonly Finding[]> {
    const options = { url, clock }
    const upkeep = await (engine === 'postgres' ? openPostgresUpkeep(options) : openMysqlUpkeep(options))
    try {
      return await upkeep.diagnose()
    } finally {
      await upkeep[Symbol.asyncDispose]()
    }
  }
})

function of(findings: readonly Finding[], check: string): Finding {
  const found = findings.find((finding) => finding.check === check)
  if (found === undefined) throw new Error(`There is no check "${check}" among ${findings.map((each) => each.check).join(', ')}`)
  return found
}
