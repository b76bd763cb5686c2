import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from 'treadle/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { loadDriver } from '../../src/engines/sqlite/file/driver.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { SqlGround } from '../backends/sql-ground.ts'
import { serving } from './http/serving.ts'

type Spoil = (sql: string) => Promise<unknown>

/** A server on a queue, and a way to write straight into its tables. */
async function ground(engine: 'sqlite' | 'postgres' | 'mariadb') {
  const clock = new ManualClock()
  if (engine === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'treadle-spoilt-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
    const path = join(folder, 'jobs.db')
    const backend = (await openSqlite({ path, clock, logger: silentLogger, migrate: true })) as WholeBackend
    const spoil: Spoil = async (sql) => {
      const Database = await loadDriver()
      const database = new Database(path)
      database.exec(sql.replaceAll(/\{(\w+)\}/g, 'treadle_$1'))
      database.close()
    }
    return { ...(await serving({ on: { backend, clock }, jobs: { unsigned: true } })), spoil }
  }
  const place = new SqlGround(engine)
  await place.start()
  onTestFinished(() => place.stop())
  const backend = (await place.open(clock)) as WholeBackend
  return { ...(await serving({ on: { backend, clock }, jobs: { unsigned: true } })), spoil: place.query as Spoil }
}

const spoilings = [
  ["payload = '{garbage'", 'its payload is not JSON'],
  ["identity = 'garbage'", 'its identity is not one that this version of Treadle writes'],
  ["identity = '[1,2,3]'", 'its identity is not one that this version of Treadle writes'],
  ["result = '{garbage'", 'its result is not JSON'],
  ["progress = '{garbage'", 'its progress is not JSON'],
  ["errors = '{garbage'", 'its errors are not a list of errors'],
  ['errors = \'{"a":1}\'', 'its errors are not a list of errors'],
  ["errors = '[1]'", 'its errors are not a list of errors'],
  ['created_at = 9000000000000000000', 'its created_at is not a time'],
  ['created_at = -5', 'its created_at is not a time'],
  ['started_at = 9000000000000000000', 'its started_at is not a time'],
  ['finished_at = 9000000000000000000', 'its finished_at is not a time'],
  ['lease_until = 9000000000000000000', 'its lease_until is not a time'],
  ['state = 99', 'its state is not known'],
  ['attempts = -1', 'its attempts is not a whole number'],
] as const

describe.each(['sqlite', 'postgres', 'mariadb'] as const)('a row of %s that somebody has spoilt', (engine) => {
  test('without the token of its lease can be ended by nobody, which is no error of the server', async () => {
    const { ask, client, spoil, backend } = await ground(engine)
    const { id } = await client.jobs.create({ job: 'a' })
    const [lease] = await client.leases.take({ jobs: ['a'] })
    await spoil(`UPDATE {jobs} SET token = NULL WHERE id = '${id}'`)
    expect(await backend.store.leases({ ids: [id] })).toEqual([])
    expect((await ask('POST', `/jobs/${id}/settle`, { json: { token: lease?.token, outcome: 'done' } })).status).toBe(409)
  })

  test('is shown as such, beside the others', async () => {
    const { ask, client, spoil } = await ground(engine)
    const { id: sound } = await client.jobs.create({ job: 'a' })
    for (const [change, fault] of spoilings) {
      const { id } = await client.jobs.create({ job: 'a' })
      await spoil(
        `UPDATE {jobs} SET ${engine === 'sqlite' && change.startsWith('identity') ? `stamp = NULL, ${change}` : change} WHERE id = '${id}'`,
      )
      const shown = await ask('GET', `/jobs/${id}`)
      expect([change, shown.status, shown.body]).toEqual([
        change,
        200,
        expect.objectContaining({ spoilt: true, faults: [fault] }),
      ])
      expect([change, (await ask('GET', `/jobs/${id}/why`)).status]).toEqual([change, 200])
      expect([change, (await ask('GET', '/stats')).status]).toEqual([change, 200])
    }
    const { jobs } = (await ask('GET', '/jobs?limit=100')).body as { jobs: { id: string; spoilt?: true }[] }
    expect(jobs.filter(({ spoilt }) => spoilt === undefined).map(({ id }) => id)).toEqual([sound])
    expect(jobs).toHaveLength(spoilings.length + 1)
  })

  test.each(["payload = '{garbage'", "errors = '{garbage'", 'created_at = 9000000000000000000'])(
    '%s: is dead when it is claimed, and the others are handed out',
    async (change) => {
      const { client, spoil } = await ground(engine)
      const { id } = await client.jobs.create({ job: 'a' })
      await spoil(`UPDATE {jobs} SET ${change} WHERE id = '${id}'`)
      const { id: sound } = await client.jobs.create({ job: 'a' })
      const leases = await client.leases.take({ jobs: ['a'], limit: 10 })
      expect(leases.map((lease) => lease.id)).toContain(sound)
      const spoilt = leases.find((lease) => lease.id === id)
      if (spoilt === undefined) expect(await client.jobs.get(id)).toMatchObject({ state: 'dead', reason: 'rejected' })
      else expect(await client.leases.settle(id, { token: spoilt.token, outcome: 'fail', error: { message: 'no' } })).toBe('dead')
      expect((await client.jobs.get(id)).state).toBe('dead')
    },
  )

  test("of an occurrence or a schedule stops neither its list nor a scheduler's pass", async () => {
    const { ask, backend, clock, spoil } = await ground(engine)
    const { schedules } = backend.store
    const entry = { expression: '* * * * *', timezone: 'UTC', version: '1' }
    await schedules.register([
      { ...entry, name: 'one' },
      { ...entry, name: 'two' },
    ])
    await spoil(
      `INSERT INTO {occurrences} (schedule, at, job_id, stored_at, outcome, started_at, finished_at) VALUES ('one', ${clock.now() - 1}, '00000000-0000-7000-8000-000000000001', 1, 77, 9000000000000000, -4)`,
    )
    if (engine === 'sqlite') {
      await spoil(`UPDATE {occurrences} SET job_id = x'ff', started_at = 'garbage', finished_at = x'00'`)
      await spoil("UPDATE {schedules} SET expression = x'ff', timezone = x'ff' WHERE name = 'two'")
    }
    expect(await ask('GET', '/schedules')).toMatchObject({ status: 200 })
    expect((await schedules.standings()).map(({ name }) => name).sort()).toEqual(['one', 'two'])
    expect(await ask('GET', '/stats')).toMatchObject({ status: 200 })
  })

  test('of a worker is left out', async () => {
    const { ask, backend, spoil } = await ground(engine)
    const said = {
      host: 'h',
      pid: 1,
      version: '1',
      startedAt: 1,
      queues: null,
      jobs: ['a'],
      concurrency: 1,
      allowed: 1,
      running: 0,
    }
    for (const owner of ['one', 'two', 'three', 'four']) {
      await backend.store.workers.announce({ ...said, owner, breaker: 'closed', scheduler: null }, 60_000)
    }
    await spoil("UPDATE {workers} SET said = '{garbage' WHERE owner = 'one'")
    await spoil("UPDATE {worker_jobs} SET jobs = 'garbage' WHERE owner = 'two'")
    await spoil("UPDATE {workers} SET seen_at = 9000000000000000000 WHERE owner = 'three'")
    // JSON of almost the right form.
    const odd = [{ scheduler: { lastTickAt: 1e300 } }, { scheduler: 7 }, { breaker: {} }, { allowed: 'many' }, { version: [] }]
    for (const [number, members] of odd.entries()) {
      const owner = `odd ${number}`
      await backend.store.workers.announce({ ...said, owner, breaker: 'closed', scheduler: null }, 60_000)
      const text = JSON.stringify({ ...said, owner, breaker: 'closed', scheduler: null, ...members })
      await spoil(`UPDATE {workers} SET said = '${text}' WHERE owner = '${owner}'`)
    }
    expect(await ask('GET', '/workers')).toMatchObject({ status: 200, body: { workers: [{ owner: 'four' }] } })
    expect(await ask('GET', '/stats')).toMatchObject({ status: 200 })
  })
})

const texts = ['payload', 'signature', 'unique_key', 'schedule', 'owner', 'result', 'seal', 'progress', 'reason', 'errors']
const numbers = ['created_at', 'started_at', 'finished_at', 'lease_until', 'attempts', 'rescues']

describe('a row of sqlite with values that its columns do not hold', () => {
  test.each([
    ...texts.map((column) => `${column} = x'ff00fe'`),
    ...numbers.flatMap((column) => [`${column} = x'ff'`, `${column} = 'garbage'`]),
    "stamp = NULL, identity = x'ff'",
  ])('%s: is shown, and stops no claim', async (change) => {
    const { ask, client, spoil } = await ground('sqlite')
    const { id } = await client.jobs.create({ job: 'a' })
    const { id: sound } = await client.jobs.create({ job: 'a' })
    await spoil(`UPDATE {jobs} SET ${change} WHERE id = '${id}'`)
    for (const path of [`/jobs/${id}`, `/jobs/${id}/why`, '/jobs', '/stats', '/workers']) {
      expect([path, (await ask('GET', path)).status]).toEqual([path, 200])
    }
    const leases = await client.leases.take({ jobs: ['a'], limit: 10 })
    expect(leases.map((lease) => lease.id)).toContain(sound)
    expect((await ask('GET', `/jobs/${id}`)).status).toBe(200)
  })

  test.each(["run_at = 'garbage'", "run_at = x'ff'", 'run_at = 9000000000000000000'])(
    '%s: of a job that waits for its time stops no claim',
    async (change) => {
      const { ask, client, clock, spoil } = await ground('sqlite')
      const { id } = await client.jobs.create({ job: 'a', at: new Date(clock.now() + 60_000).toISOString() })
      await spoil(`UPDATE {jobs} SET ${change} WHERE id = '${id}'`)
      const { id: sound } = await client.jobs.create({ job: 'a' })
      expect((await client.leases.take({ jobs: ['a'], limit: 10 })).map((lease) => lease.id)).toContain(sound)
      expect(await ask('GET', `/jobs/${id}`)).toMatchObject({ status: 200, body: { spoilt: true } })
    },
  )
})
