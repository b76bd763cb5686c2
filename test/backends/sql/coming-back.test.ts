import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../../src/app/treadle.ts'
import type { Logger } from '../../../src/core/logger.ts'
import { systemClock } from '../../../src/core/time/clock.ts'
import { mysqlUrl, type SqlEngine } from '../../services.ts'
import { SqlGround } from '../sql-ground.ts'
import { TcpProxy } from './tcp-proxy.ts'

const engines: readonly SqlEngine[] = mysqlUrl() === null ? ['postgres', 'mariadb'] : ['postgres', 'mariadb', 'mysql']
const patience = { timeout: 50_000, interval: 20 }

describe.each(engines)('a program on %s', (engine) => {
  const ground = new SqlGround(engine)
  let proxy: TcpProxy
  let jobs: Treadle
  let log: string[]
  beforeAll(async () => {
    await ground.start()
    proxy = await TcpProxy.before(ground.url)
  })
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]()
    await ground.stop()
  })
  beforeEach(async () => {
    proxy.open()
    await (await ground.open(systemClock))[Symbol.asyncDispose]()
    log = []
    jobs = treadle(proxy.url, { unsigned: true, logger: loggerInto(log) })
  })
  afterEach(async () => {
    await jobs.close()
    expect(await ground.faults()).toEqual([])
  })

  test('works through connections that are killed all the time, and runs and settles each job once', async () => {
    const runs = new Map<string, number>()
    const ended: string[] = []
    const job = jobs.define('count', async (_: number, { id }) => void runs.set(id, (runs.get(id) ?? 0) + 1))
    jobs.on('job:succeeded', ({ id }) => ended.push(id))
    jobs.on('job:lost', ({ id }) => ended.push(`lost ${id}`))
    const working = jobs.work({ signals: false, scheduler: false, concurrency: 10, poll: '50ms' })
    const sent = [(await job.dispatch(0)).id]
    for (let round = 0; round < 15; round++) {
      const sending = Promise.all(Array.from({ length: 10 }, (_, n) => job.dispatch(n)))
      await killAll()
      for (const { id } of await sending) sent.push(id)
      await killAll()
    }
    await expect.poll(() => ended.length, patience).toBe(sent.length)
    await jobs.stop()
    await working
    expect([...ended].sort()).toEqual([...sent].sort())
    expect(new Set(runs.values())).toEqual(new Set([1]))
    expect(runs.size).toBe(sent.length)
    await expect.poll(async () => (await connections()).length, patience).toBeLessThanOrEqual(6)
  })

  test('that sends while there is no database is told so, and sends when there is', async () => {
    proxy.close()
    const job = jobs.define('late', async () => {})
    await expect(job.dispatch(null)).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    proxy.open()
    expect(await (await job.dispatch(null)).state()).toBe('ready')
  })

  test('that works while there is no database waits for it, and begins when it is there', async () => {
    let runs = 0
    const job = jobs.define('late', () => void runs++)
    await job.dispatch(null)
    await jobs.close()
    proxy.close()
    jobs = treadle(proxy.url, { unsigned: true, logger: loggerInto(log) })
    jobs.define('late', () => void runs++)
    const working = jobs.work({ signals: false })
    await expect.poll(() => log, patience).toContainEqual(expect.stringMatching(/^warn .*cannot be reached.*; waiting for it$/))
    expect(await jobs.workerState()).toBeNull()
    proxy.open()
    await expect.poll(() => runs, patience).toBe(1)
    expect(await jobs.workerState()).toMatchObject({ breaker: 'closed' })
    await jobs.stop()
    expect(await working).toMatchObject({ succeeded: 1 })
  })

  test('that is stopped while it waits for its database ends at once, and says why it did nothing', async () => {
    proxy.close()
    jobs.define('never', () => {})
    const working = jobs.work({ signals: false })
    working.catch(() => {})
    await expect.poll(() => log.length, patience).toBeGreaterThan(0)
    await jobs.stop()
    await expect(working).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  })

  /** Of all programs but the one that looks. */
  async function killAll(): Promise<void> {
    const kill = engine === 'postgres' ? (id: number) => `SELECT pg_terminate_backend(${id})` : (id: number) => `KILL ${id}`
    // One that has ended by itself cannot be killed.
    for (const id of await connections()) await ground.query(kill(id)).catch(() => {})
  }

  async function connections(): Promise<readonly number[]> {
    const name = new URL(ground.url).pathname.slice(1)
    const sql =
      engine === 'postgres'
        ? `SELECT pid AS id FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`
        : `SELECT id AS id FROM information_schema.processlist WHERE db = '${name}' AND id <> CONNECTION_ID()`
    return (await ground.query<{ id: number }>(sql)).map(({ id }) => id)
  }
})

function loggerInto(log: string[]): Logger {
  const level = (name: string) => (message: string) => void log.push(`${name} ${message}`)
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}
