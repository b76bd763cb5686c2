import { describe, expect, test } from 'vitest'
import { serving } from './serving.ts'

describe('a list of jobs', () => {
  test('is cut into pages, the newest first, each with the address of the next', async () => {
    const { client, ask } = await serving()
    const made = await client.jobs.createMany(Array.from({ length: 5 }, (_, n) => ({ job: 'a', payload: n })))
    const ids: string[] = []
    const sizes: number[] = []
    for (let path: string | null = '/jobs?limit=2&job=a'; path !== null; ) {
      const { body, headers } = await ask('GET', path)
      const { jobs, next } = body as { jobs: { id: string }[]; next: string | null }
      expect(headers.link).toBe(next === null ? undefined : `<${next}>; rel="next"`)
      ids.push(...jobs.map(({ id }) => id))
      sizes.push(jobs.length)
      path = next?.replace('/api/v1', '') ?? null
    }
    expect(sizes).toEqual([2, 2, 1])
    expect(ids).toEqual(made.map(({ id }) => id).toReversed())
  })

  test('whose last page is full ends there', async () => {
    const { client } = await serving()
    await client.jobs.createMany([{ job: 'a' }, { job: 'a' }])
    expect(await client.jobs.list({ limit: 2 })).toMatchObject({ jobs: [{}, {}], next: null })
  })

  test('is filtered by state, queue, job and group', async () => {
    const { client } = await serving()
    await client.jobs.createMany([
      { job: 'a', queue: 'mail', group: 'g' },
      { job: 'b', queue: 'mail', delay: '1h' },
      { job: 'a', queue: 'slow' },
    ])
    const found = async (filter: object) => (await client.jobs.list(filter)).jobs.map(({ job, queue }) => `${job} ${queue}`)
    expect(await found({ queue: 'mail' })).toEqual(['b mail', 'a mail'])
    expect(await found({ job: 'a', queue: 'slow' })).toEqual(['a slow'])
    expect(await found({ state: 'scheduled' })).toEqual(['b mail'])
    expect(await found({ group: 'g' })).toEqual(['a mail'])
    await expect(found({ before: 'nobody' })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  test('holds no payloads and no results', async () => {
    const { client, ask } = await serving()
    await client.jobs.create({ job: 'a', payload: 'a large secret' })
    expect((await ask('GET', '/jobs')).text).not.toContain('a large secret')
  })

  test('refuses parameters that it does not know, twice the same, and values that are none', async () => {
    const { problem } = await serving()
    const pointers = async (query: string) => (await problem('GET', `/jobs?${query}`)).errors?.map(({ pointer }) => pointer)
    expect(await pointers('state=lost&limit=0&page=2')).toEqual(['query:limit', 'query:state', 'query:page'])
    expect(await pointers('job=a&job=b')).toEqual(['query:job'])
    expect(await pointers('limit=1e2')).toEqual(['query:limit'])
    expect(await pointers('limit=501')).toEqual(['query:limit'])
    expect(await pointers('__proto__=x')).toEqual(['query:__proto__'])
  })
})

describe('a job', () => {
  test('is shown with its payload, result, progress and errors', async () => {
    const { client } = await serving()
    const { id } = await client.jobs.create({ job: 'a', payload: { n: 1 }, maxRetries: 1 })
    const [first] = await client.leases.take({ jobs: ['a'], owner: 'me' })
    await client.leases.progress(id, first?.token ?? '', { done: 0.5 })
    expect(await client.jobs.get(id)).toMatchObject({ state: 'running', owner: 'me', progress: { done: 0.5 } })
    await client.leases.settle(id, { token: first?.token ?? '', outcome: 'fail', delay: 0, error: { message: 'no', code: 'E1' } })
    const [second] = await client.leases.take({ jobs: ['a'] })
    await client.leases.settle(id, { token: second?.token ?? '', outcome: 'done', result: [1] })
    expect(await client.jobs.get(id)).toMatchObject({
      state: 'succeeded',
      payload: { n: 1 },
      result: [1],
      attempts: 2,
      errors: [{ attempt: 1, message: 'no', code: 'E1' }],
    })
  })

  test('that is not there is 404, whatever its id looks like', async () => {
    const { problem } = await serving()
    for (const id of ['nobody', '%01', 'a%2Fb', '019b76da-a800-77d4-8e78-67d0d8d5d690', encodeURIComponent("' OR 1=1 --")]) {
      expect(await problem('GET', `/jobs/${id}`)).toMatchObject({ status: 404, type: 'urn:treadle:problem:job-not-found' })
      expect(await problem('GET', `/jobs/${id}/why`)).toMatchObject({ status: 404, type: 'urn:treadle:problem:job-not-found' })
    }
  })

  test('tells why it does not run', async () => {
    const { client } = await serving()
    const { id } = await client.jobs.create({ job: 'a', queue: 'mail' })
    await client.queues.pause('mail')
    const { state, reasons } = await client.jobs.why(id)
    expect(state).toBe('ready')
    expect(reasons.map(({ rule }) => rule)).toEqual(['paused', 'no-worker'])
  })
})
