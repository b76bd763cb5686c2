import { describe, expect, test } from 'vitest'
import { attackedSqlQueue, sqlEngines } from './attacked-queue.ts'

describe('a job in a SQLite file that waits for a number of jobs that is none', () => {
  test.each(["x'01ff'", "'abc'", '0.5', '-3', '9e18'])('%s: it runs, and keeps nothing else from ending', async (pending) => {
    const queue = await attackedSqlQueue('sqlite')
    const seen: unknown[] = []
    const job = queue.jobs.define('mail', async (payload: number) => void seen.push(payload))
    const first = await job.dispatch(1)
    const waiting = await job.dispatch(2, { dependsOn: first })
    await job.dispatch(3)
    await queue.attacker.sql(`UPDATE {links} SET pending = ${pending} WHERE id = '${waiting.id}'`)
    await queue.jobs.run()
    await queue.backend.store.sweep({ part: 'waits', limit: 1_000 })
    await queue.jobs.run()
    expect(seen.sort()).toEqual([1, 2, 3])
    expect(await waiting.state()).toBe('succeeded')
  })
})

describe.each(sqlEngines)('a repeating job on %s whose row says that it is a run of a schedule', (engine) => {
  test.each(['evil', '{}'])('%j: it ends, and keeps nothing else from ending', async (schedule) => {
    const queue = await attackedSqlQueue(engine)
    const { ask } = await queue.bedrock()
    await ask('CreateJob', { name: 'mail', data: {}, repeat: 'FINISHED, +1 HOUR' })
    const id = await queue.idOf(1)
    let runs = 0
    queue.jobs.define('mail', async () => void runs++)
    const other = await queue.jobs.define('other', async () => {}).dispatch()
    await queue.forge(id, { schedule })
    await queue.jobs.run()
    expect(await other.state()).toBe('succeeded')
    expect((await queue.record({ id })).state).not.toBe('running')
    expect(runs).toBe(1)
  })
})
