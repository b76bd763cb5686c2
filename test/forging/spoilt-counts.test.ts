import { describe, expect, test } from 'vitest'
import { attackedQueue, attackedSqlQueue, engines, sqlEngines } from './attacked-queue.ts'

describe.each(engines)('a time that is none, of a job that waits for a worker on %s', (engine) => {
  test.each([-1, 8.64e15 + 1])('%d: the ages of queues can still be shown', async (time) => {
    const queue = await attackedQueue(engine)
    const { id } = await queue.jobs.define('mail', async () => {}).dispatch({})
    const { url } = await queue.http()
    await queue.attacker.forge(id, { run_at: time })
    const paths = ['stats', 'queues', 'jobs', 'workers', `jobs/${id}`, `jobs/${id}/why`]
    const answers = await Promise.all(paths.map((path) => fetch(`${url}/api/v1/${path}`)))
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200))
  })
})

describe.each(['ready', 'blocked'])('a %s job of a SQLite file in a lane that was never made', (state) => {
  test.each([0, -1, 4, 2 ** 31])('%d: counts stay right, its page is shown and the others run', async (lane) => {
    const queue = await attackedSqlQueue('sqlite')
    const job = queue.jobs.define('mail', async () => {})
    const first = await job.dispatch({}, { delay: '1s' })
    const waiting = await job.dispatch({}, { dependsOn: first })
    const forged = await job.dispatch({}, state === 'ready' ? {} : { dependsOn: first })
    await queue.attacker.forge(forged.id, { lane })
    await queue.jobs.run()
    await queue.clock.advance(1_000)
    await queue.jobs.run()
    await queue.jobs.run()
    expect([await queue.record(first), await queue.record(waiting)].map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
    const { url } = await queue.http()
    expect((await fetch(`${url}/api/v1/jobs/${forged.id}/why`)).status).toBe(200)
    const sound = await job.dispatch({})
    await queue.jobs.run()
    expect((await queue.record(sound)).state).toBe('succeeded')
    const [sum] = await queue.backend.store.counts({ isSum: true })
    const succeeded = await queue.backend.store.list({ state: 'succeeded', limit: 100 })
    expect(sum?.counts.succeeded).toBe(succeeded.length)
  })
})

test('the counts of a lane of a SQLite file that has another number by now are added to those of that number', async () => {
  const queue = await attackedSqlQueue('sqlite')
  const job = queue.jobs.define('mail', async () => {})
  await job.dispatch({})
  await queue.jobs.run()
  const moved = await job.dispatch({})
  await queue.attacker.sql(`UPDATE {jobs} SET lane = 4 WHERE id = '${moved.id}'`)
  await queue.attacker.sql('UPDATE {counts} SET jobs = 0 WHERE lane > 0 AND state = 0')
  await queue.attacker.sql('INSERT INTO {counts} (lane, state, jobs) VALUES (4, 0, 1)')
  // The first claim moves it.
  await queue.jobs.run()
  await queue.jobs.run()
  const counts = await queue.backend.store.counts()
  expect(counts.map(({ counts: { ready, succeeded } }) => [ready, succeeded])).toEqual([[0, 2]])
})

test.each(["'abc'", '0.5', '99999', "x'31'"])(
  'a job of a SQLite file with a stamp that does not exist, %s, is rejected',
  async (stamp) => {
    const queue = await attackedSqlQueue('sqlite')
    const job = queue.jobs.define('mail', async () => {}).concurrency(10)
    const runs = [await job.dispatch({}), await job.dispatch({}), await job.dispatch({})]
    const forged = runs[0] as (typeof runs)[0]
    await queue.attacker.sql(`UPDATE {jobs} SET stamp = ${stamp} WHERE id = '${forged.id}'`)
    await queue.jobs.run()
    await queue.expectRejected(forged.id)
    for (const run of runs.slice(1)) expect((await queue.record(run)).state).toBe('succeeded')
  },
)

describe.each(sqlEngines)('counts and sizes on %s that are too large for their sums', (engine) => {
  const [largest, least] = ['9223372036854775807', '-9223372036854775807']

  test.each([largest, least])('%s: counts can be shown and the others run', async (jobs) => {
    const queue = await attackedSqlQueue(engine)
    const job = queue.jobs.define('mail', async () => {})
    await job.dispatch({})
    await queue.jobs.run()
    await queue.attacker.sql(`UPDATE {counts} SET jobs = ${jobs}`)
    const sound = await job.dispatch({})
    await queue.jobs.run()
    expect((await queue.record(sound)).state).toBe('succeeded')
    const { url } = await queue.http()
    const answers = await Promise.all(['stats', 'queues', 'jobs?job=mail'].map((path) => fetch(`${url}/api/v1/${path}`)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const { counts } of await queue.backend.store.counts())
      for (const count of Object.values(counts)) expect(Number.isFinite(count)).toBe(true)
  })

  test('of the log of one job keep no other job from logging', async () => {
    const queue = await attackedSqlQueue(engine)
    const job = queue.jobs
      .define('mail', async (_: unknown, { log, attempt }) => {
        log(`attempt ${attempt}`)
        if (attempt === 1) throw new Error('no')
      })
      .retries(1, { strategy: 'none' })
    const [forged, sound] = [await job.dispatch({}), await job.dispatch({})]
    await queue.jobs.run({ limit: 2 })
    await queue.attacker.sql(`UPDATE {logs} SET last_line = 2147483647, bytes = 2147483647 WHERE job_id = '${forged.id}'`)
    await queue.jobs.run()
    expect((await queue.jobs.logs(sound.id)).lines.map(({ message }) => message)).toEqual(['attempt 1', 'attempt 2'])
  })
})

describe.each(sqlEngines)('turns of groups on %s that no queue comes to', (engine) => {
  test.each(['9223372036854775807', '-9223372036854775807'])('%s: jobs of groups are still stored and run', async (turn) => {
    const queue = await attackedSqlQueue(engine)
    const job = queue.jobs.define('mail', async (_: string) => {}).group((owner) => owner, { concurrency: 1 })
    const waiting = await job.dispatch('ada')
    for (const table of ['lanes', 'groups']) await queue.attacker.sql(`UPDATE {${table}} SET turn = ${turn}`)
    const runs = [waiting, await job.dispatch('ada'), await job.dispatch('grace')]
    await queue.jobs.run()
    for (const run of runs) expect((await queue.record(run)).state).toBe('succeeded')
  })
})

describe.each(sqlEngines)('numbers on %s that no queue gives', (engine) => {
  test('a lane keeps no other job of its name from being shown or run', async () => {
    const queue = await attackedSqlQueue(engine)
    const job = queue.jobs.define('mail', async () => {})
    await job.dispatch({})
    await queue.attacker.sql('UPDATE {lanes} SET lane = -9223372036854775808')
    const other = queue.jobs.define('other', async () => {})
    const sound = await other.dispatch({})
    await queue.jobs.run()
    expect((await queue.record(sound)).state).toBe('succeeded')
    const { url } = await queue.http()
    const paths = ['jobs?job=mail', 'jobs?queue=default', 'jobs', 'stats', 'queues']
    const answers = await Promise.all(paths.map((path) => fetch(`${url}/api/v1/${path}`)))
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200))
  })

  test.each(['9223372036854775807', '-9223372036854775807'])('schedules with revision %s are still changed', async (revision) => {
    const queue = await attackedSqlQueue(engine)
    queue.jobs.define('mail', async () => {})
    await queue.jobs.schedules.upsert('own', { job: 'mail', payload: {}, every: '1h' })
    for (const table of ['schedules', 'schedule_revision'])
      await queue.attacker.sql(`UPDATE {${table}} SET revision = ${revision}`)
    await queue.jobs.schedules.upsert('other', { job: 'mail', payload: {}, every: '1h' })
    await queue.jobs.schedules.upsert('own', { job: 'mail', payload: {}, every: '2h' })
    const changes = await queue.backend.store.schedules.changes(0, 10)
    expect(changes.changed.map(({ name }) => name).sort()).toEqual(['stored:other', 'stored:own'])
    const next = await queue.backend.store.schedules.changes(changes.revision, 10)
    expect(next.changed).toEqual([])
  })
})

test.each(sqlEngines)('times of schedules on %s that are none do not keep schedules from being shown', async (engine) => {
  const queue = await attackedSqlQueue(engine)
  queue.jobs.define('mail', async () => {})
  await queue.jobs.schedules.upsert('own', { job: 'mail', payload: {}, every: '1h' })
  await queue.jobs.run()
  const { url } = await queue.http()
  for (const time of ['9007199254740991', '-1']) {
    await queue.attacker.sql(`UPDATE {schedules} SET since = ${time}`)
    await queue.attacker.sql(`UPDATE {occurrences} SET at = ${time}`)
    const answers = await Promise.all(['schedules', 'schedules/own', 'stats'].map((path) => fetch(`${url}/api/v1/${path}`)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  }
})
