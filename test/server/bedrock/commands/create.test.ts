import { describe, expect, test } from 'vitest'
import { served } from '../served.ts'

describe('CreateJob', () => {
  test('refuses data that nobody could write anew', async () => {
    const { ask } = await served()
    const deep = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`
    for (const data of [deep, '{"a":1e999}']) expect((await ask('CreateJob', { name: 'a', data })).status).toMatch(/^402/)
    expect((await ask('GetJob', { name: 'a' })).status).toBe('404 No job found')
  })

  test('numbers jobs from 1 on and stores their data as it came', async () => {
    const { ask, backend } = await served()
    const data = '{ "b": 12345678901234567890,  "a":[1.50] }'
    expect((await ask('CreateJob', { name: 'a', data })).body).toBe('{"jobID":1}')
    expect((await ask('CreateJob', { name: 'a' })).body).toBe('{"jobID":2}')
    const [id] = await backend.store.numbers!.find([1])
    expect((await backend.store.get(id as string))?.payload).toBe(data)
    expect((await ask('GetJob', { name: 'a' })).body).toContain(`"data":${data},`)
  })

  test('large numbers in data survive every command that writes it anew', async () => {
    const { ask } = await served()
    const data = async (jobID: number) => /"data":(\{.*?\})[,}]/.exec((await ask('QueryJob', { jobID })).body)?.[1]
    await ask('CreateJobs', { jobs: '[{"name":"many","data":{"n":9007199254740993}}]' })
    expect(await data(1)).toBe('{"n":9007199254740993}')
    await ask('UpdateJob', { jobID: 1, data: '{ "n": 9007199254740995 }' })
    expect(await data(1)).toBe('{"n":9007199254740995}')

    await ask('CreateJob', { name: 'one', unique: 'true', data: '{"a":9007199254740993}' })
    await ask('CreateJob', { name: 'one', unique: 'true', data: '{"b":0.1234567890123456789}' })
    expect(await data(2)).toBe('{"a":9007199254740993,"b":0.1234567890123456789}')
    await ask('CreateJob', { name: 'two', unique: 'true', data: '{"a":9007199254740993}' })
    await ask('CreateJob', { name: 'two', unique: 'true', data: '{"a":9007199254740992}' })
    expect(await data(3)).toBe('{"a":9007199254740992}')

    await ask('CreateJob', { name: 'mock', mockRequest: 'true', data: '{"a":9007199254740993}' })
    expect(await data(4)).toBe('{"a":9007199254740993,"mockRequest":true}')
    await ask('CreateJob', { name: 'again', retryAfter: '+1 MINUTE', data: '{"a":9007199254740993}' })
    await ask('GetJob', { name: 'again' })
    expect(await data(5)).toBe('{"a":9007199254740993,"retryAfterCount":1}')
  })

  test('of a unique name finds its oldest job, however many others of that name were made since', async () => {
    const { ask, clock } = await served()
    const make = async (headers: object) => (await ask('CreateJob', { name: 'a', ...headers })).json.jobID
    expect(await make({ unique: true, data: { n: 1 }, firstRun: '2026-01-02' })).toBe(1)
    expect([await make({}), await make({})]).toEqual([2, 3])
    await clock.advance(1_000)
    expect(await make({ data: { n: 2 } })).toBe(4)
    expect(await make({ unique: true, data: { n: 1 } })).toBe(1)
    expect(await make({ unique: true, data: { m: 5 } })).toBe(1)
    expect((await ask('QueryJob', { jobID: 1 })).json.data).toEqual({ n: 1, m: 5 })
  })

  test.each([
    [{}, '402 Missing name'],
    [{ name: '' }, '402 Missing name'],
    [{ name: 'x'.repeat(256) }, '402 Malformed name'],
    [{ name: 'a', jobPriority: 1 }, '402 Invalid priority value'],
    [{ name: 'a', jobPriority: '1e3' }, '402 Invalid priority value'],
    [{ name: 'a', jobPriority: 'x' }, '200 OK'],
    [{ name: 'a', jobPriority: '500.5' }, '200 OK'],
    [{ name: 'a', priority: 7 }, '402 Invalid priority value'],
    [{ name: 'a', data: '' }, '402 Data is not a valid JSON Object'],
    [{ name: 'a', data: '[]' }, '402 Data is not a valid JSON Object'],
    [{ name: 'a', data: '{ }' }, '402 Data is not a valid JSON Object'],
    [{ name: 'a', data: '1' }, '402 Data is not a valid JSON Object'],
    [{ name: 'a', data: '{"a":' }, '402 Data is not a valid JSON Object'],
    [{ name: 'a', data: '{"a":1' }, '402 Data is not a valid JSON Object'],
    [{ name: 'a', data: '{}' }, '200 OK'],
    [{ name: 'a', retryAfter: '1 HOUR' }, '402 Malformed retryAfter'],
    [{ name: 'a', retryAfter: 'START OF HOUR' }, '402 Malformed retryAfter'],
    [{ name: 'a', retryAfter: '+1  HOUR' }, '402 Malformed retryAfter'],
    [{ name: 'a', retryAfter: '+1 hour' }, '200 OK'],
    [{ name: 'a', repeat: 'FINISHED' }, '402 Malformed repeat'],
    [{ name: 'a', repeat: '+1 DAY' }, '402 Malformed repeat'],
    [{ name: 'a', repeat: 'FINISHED, 1 DAY' }, '402 Malformed repeat'],
    [{ name: 'a', repeat: 'FINISHED, START OF DAY' }, '402 Malformed repeat'],
    [{ name: 'a', repeat: 'SCHEDULED, -1 HOUR' }, '402 Malformed repeat'],
    [{ name: 'a', repeat: 'FINISHED,,+1 DAY,' }, '200 OK'],
    [{ name: 'a', repeat: '' }, '200 OK'],
    [{ name: 'a', firstRun: 'tomorrow' }, '402 Malformed firstRun'],
    [{ name: 'a', firstRun: '2026-02-30' }, '402 Malformed firstRun'],
    [{ name: 'a', firstRun: '2026-03-01' }, '200 OK'],
    [{ name: 'a', parentJobID: 99 }, '404 parentJobID does not exist'],
    [{ name: 'a', parentJobID: 'junk' }, '200 OK'],
    [{ name: 'a', parentJobID: 0 }, '200 OK'],
  ])('%j is answered with %s', async (headers, status) => {
    expect(await (await served()).status('CreateJob', headers)).toBe(status)
  })

  test('of several faults, the one that the public server finds first is told', async () => {
    const { ask, status } = await served()
    const faults = { jobPriority: 1, data: '[]', retryAfter: 'x', parentJobID: 99, repeat: 'x', firstRun: 'x' }
    const told: string[] = []
    const left: Record<string, unknown> = { ...faults }
    for (const fault of Object.keys(faults)) {
      told.push(await status('CreateJob', { name: 'a', ...left }))
      delete left[fault]
    }
    expect(told).toEqual([
      '402 Invalid priority value',
      '402 Data is not a valid JSON Object',
      '402 Malformed retryAfter',
      '404 parentJobID does not exist',
      '402 Malformed repeat',
      '402 Malformed firstRun',
    ])
    // Only a `jobPriority` is looked at before everything else.
    expect(await status('CreateJob', { name: 'a', priority: 1, repeat: 'x' })).toBe('402 Malformed repeat')
    await ask('CreateJob', { name: 'parent' })
    await ask('GetJob', { name: 'parent' })
    await ask('CreateJob', { name: 'child', parentJobID: 1 })
    await ask('FinishJob', { jobID: 1 })
    await ask('GetJob', { name: 'child' })
    expect(await status('CreateJob', { name: 'a', parentJobID: 2, repeat: 'x' })).toBe('402 Malformed repeat')
    expect(await status('CreateJob', { name: 'a', parentJobID: 2 })).toBe('405 Cannot create grandchildren')
  })

  test('a first run lies in the future until its time has come', async () => {
    const { ask, clock } = await served({ at: Date.UTC(2026, 0, 1) })
    await ask('CreateJob', { name: 'later', firstRun: '2026-01-01 00:01:00' })
    expect((await ask('GetJob', { name: '*' })).status).toBe('404 No job found')
    await clock.advance(60_000)
    expect((await ask('GetJob', { name: '*' })).json).toMatchObject({ jobID: 1, nextRun: '2026-01-01 00:01:00' })
  })

  test('jobs of the same name are jobs of their own', async () => {
    const { ask } = await served()
    const made = [await ask('CreateJob', { name: 'a' }), await ask('CreateJob', { name: 'a', unique: 'TRUE' })]
    expect(made.map(({ json }) => json.jobID)).toEqual([1, 2])
  })

  test('a signed envelope is what is stored, so that no worker can be given another', async () => {
    const { ask, backend } = await served({ program: { signingKey: 'a key for this test alone' } })
    await ask('CreateJob', { name: 'a' })
    const { leases } = await backend.lease({
      jobs: [{ job: 'a', concurrency: null }],
      queues: null,
      limit: 1,
      leaseMs: 1_000,
      owner: 'me',
      maxRescues: 1,
    })
    expect(leases[0]?.envelope.signature).toMatch(/./)
  })
})

describe('a unique job', () => {
  test('is there once, and twenty who ask at the same time get the same number', async () => {
    const { client } = await served()
    const clients = await Promise.all(Array.from({ length: 20 }, () => client()))
    const replies = await Promise.all(clients.map((each) => each.ask('CreateJob', { name: 'one', unique: true })))
    expect(new Set(replies.map(({ json }) => json.jobID)).size).toBe(1)
  })

  test('is found also where it was not made to be unique, while it runs and when it has failed', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'one' })
    expect((await ask('CreateJob', { name: 'one', unique: true })).json.jobID).toBe(1)
    await ask('GetJob', { name: 'one' })
    expect((await ask('CreateJob', { name: 'one', unique: true })).json.jobID).toBe(1)
    await ask('FailJob', { jobID: 1 })
    expect((await ask('CreateJob', { name: 'one', unique: true })).json.jobID).toBe(1)
  })

  test('that was finished is gone, and made anew', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'one', unique: true })
    await ask('GetJob', { name: 'one' })
    await ask('FinishJob', { jobID: 1 })
    expect((await ask('CreateJob', { name: 'one', unique: true })).json.jobID).toBe(2)
  })

  test('takes on other data as a patch, with the repeat and the priority of the request', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'one', data: { a: 1, b: 2, c: { d: 1 } }, repeat: 'FINISHED, +1 DAY', jobPriority: 850 })
    await ask('CreateJob', { name: 'one', unique: true, data: { b: null, c: { e: 2 } } })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({
      data: { a: 1, c: { d: 1, e: 2 } },
      repeat: '',
      priority: 500,
    })
  })

  test('keeps its data where that is not to be overwritten', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'one', data: { a: 1 }, repeat: 'FINISHED, +1 DAY' })
    expect((await ask('CreateJob', { name: 'one', unique: true, overwrite: false, data: { a: 2 } })).json.jobID).toBe(1)
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ data: { a: 1 }, repeat: 'FINISHED, +1 DAY' })
  })

  test('with the same data is left alone, whatever else the request says', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'one', data: { a: 1, b: 2 }, repeat: 'FINISHED, +1 DAY' })
    await ask('CreateJob', { name: 'one', unique: true, data: '{"b":2, "a":1}' })
    expect((await ask('QueryJob', { jobID: 1 })).json.repeat).toBe('FINISHED, +1 DAY')
    // Nothing of the request is stored, so nothing of it is refused.
    const unused = { name: 'one', unique: true, data: { a: 1, b: 2 }, repeat: 'x', priority: 3, firstRun: 'x' }
    expect((await ask('CreateJob', unused)).body).toBe('{"jobID":1}')
    expect((await ask('CreateJob', { ...unused, data: { c: 3 } })).status).toBe('402 Malformed repeat')
    expect((await ask('QueryJob', { jobID: 1 })).json.data).toEqual({ a: 1, b: 2 })
  })
})

test('a parent with a number that no job can have does not exist', async () => {
  const { status, backend } = await served()
  const numbers = backend.store.numbers!
  const find = numbers.find.bind(numbers)
  numbers.find = (asked) => (asked.every(Number.isSafeInteger) ? find(asked) : Promise.reject(new Error('integer out of range')))
  for (const parentJobID of ['9223372036854775807', '9'.repeat(40)])
    expect(await status('CreateJob', { name: 'a', parentJobID })).toBe('404 parentJobID does not exist')
})

describe('CreateJobs', () => {
  test('makes all of them, in their order', async () => {
    const { ask } = await served()
    const jobs = [
      { name: 'a', data: { x: 1 } },
      { name: 'b', jobPriority: 1000 },
      { name: 'c', repeat: 'hourly' },
    ]
    expect((await ask('CreateJobs', { jobs })).body).toBe('{"jobIDs":[1,2,3]}')
    expect((await ask('QueryJob', { jobID: 3 })).json).toMatchObject({ name: 'c', repeat: 'HOURLY' })
    expect((await ask('GetJobs', { name: '*', numResults: 5 })).json.jobs.map((job: { name: string }) => job.name)).toEqual([
      'b',
      'a',
      'c',
    ])
  })

  test.each([
    [{}, '401 Invalid JSON'],
    [{ jobs: '[]' }, '401 Invalid JSON'],
    [{ jobs: '{}' }, '401 Invalid JSON'],
    [{ jobs: '[1]' }, '401 Invalid JSON'],
    [{ jobs: '[{}]' }, '401 Invalid JSON'],
    [{ jobs: '[{"data":{}}]' }, '402 Missing name'],
    [{ jobs: '[{"name":"a"},{"name":"b","jobPriority":3}]' }, '402 Invalid priority value'],
  ])('%j is answered with %s, and makes none', async (headers, status) => {
    const { ask } = await served()
    expect((await ask('CreateJobs', headers)).status).toBe(status)
    expect((await ask('GetJob', { name: '*' })).status).toBe('404 No job found')
  })

  test('changes no existing job if another job of the list is refused', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a', unique: 'true', data: { a: 1 }, repeat: 'DAILY' })
    const list = (data: unknown) =>
      ask('CreateJobs', {
        jobs: [
          { name: 'a', unique: 'true', data: { a: 2 } },
          { name: 'b', data },
        ],
      })
    expect((await list(5)).status).toBe('402 Data is not a valid JSON Object')
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ data: { a: 1 }, repeat: 'DAILY' })
    expect((await list({})).json.jobIDs[0]).toBe(1)
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ data: { a: 2 }, repeat: '' })
  })

  test('compares an existing unique job that the list has twice with its data after the first time', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a', unique: 'true', data: { a: 1 } })
    const list = (...data: readonly unknown[]) =>
      ask('CreateJobs', { jobs: data.map((each) => ({ name: 'a', unique: 'true', data: each })) })
    expect((await list({ a: 2 }, { a: 1 })).json.jobIDs).toEqual([1, 1])
    expect((await ask('QueryJob', { jobID: 1 })).json.data).toEqual({ a: 1 })
    // Only a job that is changed has its repeat checked.
    const jobs = [
      { name: 'a', unique: 'true', data: { a: 2 } },
      { name: 'a', unique: 'true', data: { a: 1 }, repeat: 'NEVER EVER' },
    ]
    expect((await ask('CreateJobs', { jobs })).status).toBe('402 Malformed repeat')
    expect((await ask('QueryJob', { jobID: 1 })).json.data).toEqual({ a: 1 })
  })

  test('treats a unique job that the list has twice as two requests would', async () => {
    const { ask } = await served()
    const job = { name: 'a', unique: 'true' }
    const jobs = [
      { ...job, data: { a: 1, b: 1 }, repeat: 'DAILY' },
      { ...job, data: { b: null, c: 2 } },
    ]
    const { jobIDs } = (await ask('CreateJobs', { jobs })).json
    expect(jobIDs[1]).toBe(jobIDs[0])
    expect((await ask('QueryJob', { jobID: jobIDs[0] })).json).toMatchObject({ data: { a: 1, c: 2 }, repeat: '' })
    const kept = [
      { ...job, name: 'b', data: { a: 1 } },
      { ...job, name: 'b', data: { a: 2 }, overwrite: 'false' },
    ]
    const [jobID] = (await ask('CreateJobs', { jobs: kept })).json.jobIDs
    expect((await ask('QueryJob', { jobID })).json.data).toEqual({ a: 1 })
  })
})
