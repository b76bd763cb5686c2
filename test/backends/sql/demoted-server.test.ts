import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Services } from '../../../scripts/services/start.mjs'
import { openMysql, openMysqlUpkeep } from '../../../src/engines/mysql/index.ts'
import { openPostgres, openPostgresUpkeep } from '../../../src/engines/postgres/index.ts'
import type { OpenUpkeep } from '../../../src/queue/contract/upkeep.ts'
import type { Finding } from '../../../src/queue/upkeep/diagnosis.ts'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { ownServices } from '../../services.ts'

const patience = { timeout: 30_000, interval: 20 }

describe('a server that was made to read only, as a primary that failed over', () => {
  let services: Services
  beforeAll(async () => {
    services = await ownServices(['postgres', 'mariadb'])
  })
  afterAll(() => services.stop())

  test('of PostgreSQL counts as one that cannot be reached: connections to it are given up, and others tried', async () => {
    const url = services.urls.postgres as string
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    const readOnly = async (value: 'on' | 'off') => {
      await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      await admin.query('SELECT pg_reload_conf()')
    }
    const queue = await benchOn((clock) => openPostgres({ url, clock, notify: false }))
    await Promise.all(times(5, () => queue.sendOne()))
    const before = await processes()
    await readOnly('on')
    await expect
      .poll(async () => (await admin.query('SHOW default_transaction_read_only')).rows[0], patience)
      .toEqual({
        default_transaction_read_only: 'on',
      })
    const sending = queue.sendOne()
    await expect.poll(async () => (await processes()).filter((pid) => before.includes(pid)), patience).toEqual([])
    // What is not tried again tells it at once.
    await expect(queue.backend.store?.setPaused({ queue: 'mail' }, true)).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringMatching(/^PostgreSQL is read-only: .*default_transaction_read_only/),
    })
    expect(await rightsOn(await openPostgresUpkeep({ url }))).toMatchObject({
      verdict: 'problem',
      found: 'default_transaction_read_only = on: it may only read',
      advice: 'Run: ALTER ROLE postgres IN DATABASE postgres SET default_transaction_read_only = off;',
    })
    await readOnly('off')
    await sending
    expect(await queue.claimedIds()).toHaveLength(6)
    await queue.backend[Symbol.asyncDispose]()
    await admin.end()

    async function processes(): Promise<readonly number[]> {
      const { rows } = await admin.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'treadle'")
      return rows.map(({ pid }) => pid)
    }
  })

  test('of MariaDB as well', async () => {
    const root = services.urls.mariadb as string
    const admin = await createConnection(root)
    await admin.query('CREATE DATABASE plain')
    // Those who administer a server may write to it all the same.
    await admin.query("CREATE USER 'plain'@'%' IDENTIFIED BY 'secret'")
    await admin.query("GRANT ALL ON plain.* TO 'plain'@'%'")
    const { host } = new URL(root)
    const url = `mysql://plain:secret@${host}/plain`
    const queue = await benchOn((clock) => openMysql({ url, clock }))
    await Promise.all(times(5, () => queue.sendOne()))
    const before = await connections()
    await admin.query('SET GLOBAL read_only = 1')
    const sending = queue.sendOne()
    await expect.poll(async () => (await connections()).filter((id) => before.includes(id)), patience).toEqual([])
    await expect(queue.backend.store?.setPaused({ queue: 'mail' }, true)).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringMatching(/^MySQL is read-only: .*SET GLOBAL read_only = OFF;$/),
    })
    expect(await rightsOn(await openMysqlUpkeep({ url }))).toMatchObject({
      verdict: 'problem',
      found: 'the server is read-only',
      advice: expect.stringContaining('SET GLOBAL read_only = OFF;'),
    })
    await admin.query('SET GLOBAL read_only = 0')
    await sending
    expect(await queue.claimedIds()).toHaveLength(6)
    await queue.backend[Symbol.asyncDispose]()
    await admin.end()

    async function connections(): Promise<readonly number[]> {
      const [rows] = await admin.query("SELECT id AS id FROM information_schema.processlist WHERE user = 'plain'")
      return (rows as unknown as readonly { id: number }[]).map(({ id }) => id)
    }
  })
})

async function benchOn(open: (clock: ManualClock) => ReturnType<typeof openPostgres>): Promise<Bench> {
  const clock = new ManualClock()
  return new Bench(await open(clock), clock)
}

async function rightsOn(upkeep: OpenUpkeep): Promise<Finding | undefined> {
  try {
    return (await upkeep.diagnose()).find(({ check }) => check === 'rights')
  } finally {
    await upkeep[Symbol.asyncDispose]()
  }
}
