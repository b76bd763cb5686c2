import { describe, expect, test } from 'vitest'
import { serving } from './serving.ts'

const secret = 'a token of 16 bytes'

describe('the log of a job', () => {
  test('is read, and followed by the number of the last line', async () => {
    const { jobs, client } = await serving()
    const run = await jobs.define('says', (_, { log }) => [log('one', { n: 1 }), log('two')].length).dispatch()
    await jobs.run()
    const first = await client.jobs.logs(run.id)
    expect(first).toMatchObject({
      dropped: 0,
      last: 2,
      lines: [{ line: 1, attempt: 1, level: 'info', message: 'one', fields: { n: 1 } }, { line: 2 }],
    })
    expect(Number.isNaN(Date.parse(first.lines[0]?.at ?? ''))).toBe(false)
    expect(await client.jobs.logs(run.id, { after: 1 })).toMatchObject({ lines: [{ message: 'two' }], last: 2 })
    expect(await client.jobs.logs(run.id, { after: first.last })).toEqual({ lines: [], dropped: 0, last: 2 })
  })

  test('of no job is a job that is not there, and so is that of a job outside of the limits of a token', async () => {
    const tokens = [{ role: 'read', secret, queues: ['mine'] } as const]
    const { jobs, problem } = await serving({ tokens })
    const run = await jobs.define('says', (_, { log }) => log('one')).dispatch()
    await jobs.run()
    const headers = { authorization: `Bearer ${secret}` }
    expect(await problem('GET', `/jobs/${run.id}/logs`, { headers })).toMatchObject({ status: 404 })
    expect(await problem('GET', '/jobs/0190d1a2-0000-7000-8000-000000000000/logs', { headers })).toMatchObject({ status: 404 })
  })
})

describe('tags', () => {
  test('are given to a job that is made, shown, and found by', async () => {
    const { client } = await serving()
    const { id } = await client.jobs.create({ job: 'a', tags: ['urgent', 'eu'] })
    await client.jobs.create({ job: 'a', tags: ['eu'] })
    expect((await client.jobs.get(id)).tags).toEqual(['urgent', 'eu'])
    const { jobs } = await client.jobs.list({ tag: 'urgent' })
    expect(jobs.map((job) => [job.id, job.tags])).toEqual([[id, ['urgent', 'eu']]])
  })

  test('that are none are refused', async () => {
    const { problem } = await serving()
    expect(await problem('POST', '/jobs', { json: { job: 'a', tags: [' x'] } })).toMatchObject({ status: 400 })
  })
})

describe('a search', () => {
  test('looks into payloads and errors, and says how many jobs it has looked at', async () => {
    const { client } = await serving()
    await client.jobs.create({ job: 'a', payload: { order: 776 } })
    const { id } = await client.jobs.create({ job: 'a', payload: { order: 777 } })
    const page = await client.jobs.list({ where: 'payload.order:777' })
    expect(page.jobs.map((job) => job.id)).toEqual([id])
    expect(page).toMatchObject({ next: null, searched: 2 })
  })

  test('that is not one is refused with what is wrong', async () => {
    const { problem } = await serving()
    expect(await problem('GET', '/jobs?where=colour:red')).toMatchObject({
      status: 400,
      detail: expect.stringContaining('colour'),
    })
  })
})

describe('jobs with a key', () => {
  test('are not handed out while they are paused, and stats tell', async () => {
    const { client } = await serving()
    await client.jobs.create({ job: 'a' })
    await client.jobs.pause('a')
    expect((await client.stats()).pausedJobs).toEqual(['a'])
    expect(await client.leases.take({ jobs: ['a'] })).toEqual([])
    await client.jobs.resume('a')
    expect(await client.leases.take({ jobs: ['a'] })).toHaveLength(1)
  })

  test('are not paused by a token that is limited to queues', async () => {
    const tokens = [{ role: 'operate', secret, queues: ['mine'] } as const]
    const { problem } = await serving({ tokens })
    const headers = { authorization: `Bearer ${secret}` }
    expect(await problem('POST', '/job-names/a/pause', { headers })).toMatchObject({ status: 403 })
  })
})
