import { describe, expect, test } from 'vitest'
import { attackedQueue, attackedSqlQueue, engines } from './attacked-queue.ts'

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
