import { describe, expect, test } from 'vitest'
import { until } from '../../../world.ts'
import { type Client, served, told } from '../served.ts'

describe('GetJob', () => {
  test('tells a program all that there is to know, as it was before', async () => {
    const { ask } = await served({ at: Date.UTC(2026, 0, 1, 12, 0, 0, 26) })
    await ask('CreateJob', { name: 'a/b', repeat: 'finished, +1 hour', jobPriority: 750 })
    expect((await ask('GetJob', { name: 'a/b' })).body).toBe(
      '{"created":"2026-01-01 12:00:00","data":{},"jobID":1,"lastRun":"","name":"a\\/b","nextRun":"2026-01-01 12:00:00.026","priority":750,"repeat":"FINISHED, +1 HOUR","retryAfter":""}',
    )
  })

  test.each([
    [{}, '402 Missing name'],
    [{ name: 'x'.repeat(12_751) }, '402 Malformed name'],
    [{ name: 'a', numResults: 1 }, '402 Cannot use numResults with GetJob; try GetJobs'],
    [{ name: 'a', jobPriority: 3 }, '402 Invalid priority value'],
    [{ name: 'a' }, '404 No job found'],
  ])('%j is answered with %s', async (headers, status) => {
    expect(await (await served()).status('GetJob', headers)).toBe(status)
  })

  test.each([
    ['*', 'www/one'],
    ['www/*', 'www/one'],
    ['www/tw?', 'www/two'],
    ['www/[s-u]*', 'www/two'],
    ['[^w]*', 'manual'],
    ['WWW/*', undefined],
    ['nothing, www/two', 'www/two'],
    ['www/*, manual', 'manual'],
    ['www/two,', undefined],
  ])('%s finds %s', async (name, found) => {
    const { ask } = await served()
    for (const each of ['www/one', 'www/two', 'manual']) await ask('CreateJob', { name: each })
    const { status, json } = await ask('GetJob', { name })
    expect(status === '200 OK' ? json.name : undefined).toBe(found)
  })

  test('gives the highest priority first, and among equals what was due first', async () => {
    const { ask, clock } = await served()
    for (const jobPriority of [500, 0, 1000, 250, 850, 750, 500]) {
      await ask('CreateJob', { name: 'a', jobPriority })
      await clock.advance(1_000)
    }
    const got: number[] = []
    for (let count = 0; count < 7; count++) got.push((await ask('GetJob', { name: 'a' })).json.jobID)
    expect(got).toEqual([3, 5, 6, 1, 7, 4, 2])
  })

  test('can ask for one priority', async () => {
    const { ask } = await served()
    for (const jobPriority of [500, 1000, 250]) await ask('CreateJob', { name: 'a', jobPriority })
    expect((await ask('GetJob', { name: 'a', jobPriority: 250 })).json.jobID).toBe(3)
    expect((await ask('GetJob', { name: 'a', jobPriority: 250 })).status).toBe('404 No job found')
  })

  test('never gives the same job twice', async () => {
    const { client, ask } = await served()
    for (let count = 0; count < 30; count++) await ask('CreateJob', { name: 'a' })
    const clients = await Promise.all(Array.from({ length: 50 }, () => client()))
    const replies = await Promise.all(clients.map((each) => each.ask('GetJob', { name: 'a' })))
    const got = replies.filter(({ status }) => status === '200 OK').map(({ json }) => json.jobID as number)
    expect(got.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
  })

  test('a job that the program itself has dispatched gets a number', async () => {
    const { jobs, ask, record } = await served()
    const job = jobs.define('mail', async () => {})
    const run = await job.dispatch({ to: 'ada' } as never)
    expect((await ask('GetJob', { name: 'mail' })).json).toMatchObject({ jobID: 1, data: { to: 'ada' } })
    await ask('FinishJob', { jobID: 1, data: { sent: true } })
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: '{"sent":true}' })
  })

  test('a forged job is never handed out', async () => {
    const { ask, backend } = await served({ program: { signingKey: 'a key for this test alone' } })
    await ask('CreateJob', { name: 'a', data: { amount: 1 } })
    const [id] = await backend.store.numbers!.find([1])
    const record = await backend.store.get(id as string)
    const forged = { ...record, payload: '{"amount":1000}', identity: '[]', signature: 'x', links: null, uniqueUntil: 'ended' }
    await backend.store.amend([{ id: id as string, expected: null, envelope: forged as never }])
    expect((await ask('GetJob', { name: 'a' })).status).toBe('404 No job found')
    expect((await backend.store.get(id as string))?.state).toBe('dead')
  })
})

const outOfYears = Array(9).fill('+999 YEARS').join(', ')

test('a job whose retryAfter leads out of the supported years is refused, and a stored one is put aside', async () => {
  const { ask, backend, jobs } = await served()
  expect((await ask('CreateJob', { name: 'a', retryAfter: outOfYears })).status).toBe('402 Malformed retryAfter')
  jobs.declare('a')
  const { id } = await jobs.dispatch('a', {}, { priority: 20, meta: { bedrock: { retryAfter: outOfYears } } })
  const { json } = await ask('CreateJob', { name: 'b' })
  expect((await ask('GetJobs', { name: '*', numResults: 5 })).json.jobs).toMatchObject([{ jobID: json.jobID }])
  expect((await backend.store.get(id))?.state).toBe('dead')
})

describe('GetJobs', () => {
  test('puts aside what cannot be handed out, and hands out the rest', async () => {
    const { ask, backend } = await served()
    for (const name of ['a', 'b', 'c']) await ask('CreateJob', { name, retryAfter: '+1 HOUR' })
    const [id] = await backend.store.numbers!.find([2])
    const record = await backend.store.get(id as string)
    const payload = `{"deep":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    const identity = JSON.stringify([1, id, 'b', 'b', 'default', 5, 0, null, false, null, record?.meta])
    const deep = { ...record, identity, payload, signature: null, links: null, uniqueUntil: 'ended' }
    await backend.store.amend([{ id: id as string, expected: null, envelope: deep as never }])
    const { json } = await ask('GetJobs', { name: '*', numResults: 5 })
    expect(json.jobs.map((job: { name: string }) => job.name)).toEqual(['a', 'c'])
    expect((await backend.store.get(id as string))?.state).toBe('dead')
  })

  test('gives up to so many', async () => {
    const { ask } = await served()
    for (let count = 0; count < 5; count++) await ask('CreateJob', { name: 'a' })
    const { json } = await ask('GetJobs', { name: 'a', numResults: 3 })
    expect(json.jobs.map((job: { jobID: number }) => job.jobID)).toEqual([1, 2, 3])
    expect((await ask('GetJobs', { name: 'a', numResults: 'junk' })).json.jobs).toHaveLength(1)
  })

  test('must say how many', async () => {
    const { status } = await served()
    expect(await status('GetJobs', { name: 'a' })).toBe('402 Missing numResults')
    expect(await status('GetJobs', { name: 'a', numResults: 2 })).toBe('404 No job found')
  })
})

describe('waiting', () => {
  test('ends with nothing when its time is over', async () => {
    const { client, clock } = await served()
    const worker = await client()
    await worker.wait('a', 5_000)
    await clock.advance(4_999)
    expect(worker.received).toBe('')
    await clock.advance(1)
    expect(await worker.reply()).toMatch(/^404 No job found/)
  })

  test('ends when a job falls due, repeats, is retried, or is given back', async () => {
    const { client, ask, clock } = await served({ lease: '30s' })
    const waiting = async (name: string) => {
      const worker = await client()
      await worker.wait(name)
      return worker
    }
    const due = await waiting('due')
    await ask('CreateJob', { name: 'due', firstRun: '2026-01-01 00:00:10' })
    await clock.advance(10_000)
    expect(await due.reply()).toMatch(/"name":"due"/)

    await ask('CreateJob', { name: 'repeated', repeat: 'FINISHED, +10 SECONDS' })
    const { json } = await ask('GetJob', { name: 'repeated' })
    const repeated = await waiting('repeated')
    await ask('FinishJob', { jobID: json.jobID })
    await clock.advance(10_000)
    expect(await repeated.reply()).toMatch(/"name":"repeated"/)

    await ask('CreateJob', { name: 'retried' })
    const { jobID } = (await ask('GetJob', { name: 'retried' })).json
    const retried = await waiting('retried')
    await ask('RetryJob', { jobID, delay: 5 })
    await clock.advance(5_000)
    expect(await retried.reply()).toMatch(/"name":"retried"/)

    const lost = await waiting('retried')
    await clock.advance(40_000)
    expect(await lost.reply()).toMatch(/"name":"retried"/)
  })

  test('is fair: who came first is served first, whatever they ask for', async () => {
    const { client, ask } = await served()
    const order: string[] = []
    const names = ['*', 'mail', '*', 'ma*', 'mail']
    for (const [index, name] of names.entries()) {
      const worker = await client()
      await worker.wait(name)
      void worker.reply().then(() => order.push(`${index} ${name}`))
    }
    for (let count = 1; count <= names.length; count++) {
      await ask('CreateJob', { name: 'mail' })
      await until(() => order.length === count)
    }
    expect(order).toEqual(['0 *', '1 mail', '2 *', '3 ma*', '4 mail'])
  })

  test('a client that goes away while it waits takes no job with it', async () => {
    const { client, ask, clock } = await served()
    const gone = await client()
    await gone.wait('a')
    gone.socket.destroy()
    await ask('CreateJob', { name: 'a' })
    await until(async () => {
      await clock.advance(1_000)
      return (await ask('GetJob', { name: 'a' })).status === '200 OK'
    })
  })

  test('goes on for a client that closes its sending side behind its request', async () => {
    const { client, ask, clock } = await served()
    const pipes: Client[] = []
    for (const name of ['a', 'b']) {
      const pipe = await client()
      pipe.socket.end(`Ping\n\nGetJob\nname: ${name}\nconnection: wait\ntimeout: 60000\n\n`)
      await pipe.reply()
      await until(() => pipe.socket.writableFinished)
      pipes.push(pipe)
    }
    const [first, second] = pipes as [Client, Client]
    // The server has seen that they are closed when it answers somebody else.
    await ask('Ping')
    await clock.advance(30_000)
    await ask('CreateJob', { name: 'a' })
    expect(told(await first.reply())).toMatchObject({ status: '200 OK', json: { jobID: 1, name: 'a' } })
    expect(second.received).toBe('')
    await clock.advance(30_000)
    expect(await second.reply()).toMatch(/^404 No job found/)
  })

  test('ends for a client that closes its sending side while it waits', async () => {
    const { client, clock } = await served()
    const worker = await client()
    await worker.wait('a')
    await clock.advance(1_001)
    worker.socket.end()
    expect(await worker.reply()).toMatch(/^404 No job found/)
  })

  test('a reply that nobody receives puts the job back where it was', async () => {
    const { client, ask, clock, backend } = await served()
    await ask('CreateJob', { name: 'a', retryAfter: '+1 HOUR' })
    const forgetful = await client()
    forgetful.send('GetJob\nname: a\nConnection: forget\n\n')
    expect(await forgetful.all()).toMatch(/^202 Successfully queued/)
    await until(async () => {
      await clock.advance(0)
      return (await backend.store.counts())[0]?.counts.ready === 1
    })
    expect((await ask('GetJob', { name: 'a' })).json).toMatchObject({ jobID: 1, data: {} })
  })

  test('a reply that nobody may have received ends a job that must not be begun twice', async () => {
    const { client, ask, clock, jobs, backend } = await served()
    jobs.declare('once').delivery('at-most-once')
    await ask('CreateJob', { name: 'once' })
    const forgetful = await client()
    forgetful.send('GetJob\nname: once\nConnection: forget\n\n')
    expect(await forgetful.all()).toMatch(/^202 Successfully queued/)
    await until(async () => {
      await clock.advance(0)
      return (await backend.store.counts())[0]?.counts.dead === 1
    })
    expect((await backend.store.list({ limit: 1 }))[0]).toMatchObject({ reason: 'interrupted' })
  })

  test('2,000 connections wait for 2,000 jobs, and each gets exactly one', async () => {
    const { client, ask } = await served()
    const workers: Client[] = []
    // What has connected and is not accepted yet has to fit into the queue of the system, which otherwise resets some of them.
    while (workers.length < 2_000) workers.push(...(await Promise.all(Array.from({ length: 200 }, () => client()))))
    await Promise.all(workers.map((worker) => worker.wait('a')))
    const jobs = Array.from({ length: 1_000 }, () => ({ name: 'a' }))
    await ask('CreateJobs', { jobs })
    await ask('CreateJobs', { jobs })
    const replies = await Promise.all(workers.map((worker) => worker.reply()))
    const numbers = replies.map((reply) => Number(/"jobID":(\d+)/.exec(reply)?.[1]))
    expect(new Set(numbers).size).toBe(2_000)
    expect(Math.max(...numbers)).toBe(2_000)
  })
})

describe('a job whose meta somebody has filled with garbage', () => {
  const garbage = [1e300, -1e300, 8.64e15 + 1, 1.5, '1', null, {}]

  test.each(garbage)('%j in place of a time keeps nobody from the other jobs', async (value) => {
    const { ask, status, jobs } = await served()
    await jobs.declare('a').dispatch({}, { meta: { bedrock: { lastRun: value, heldUntil: value } }, priority: 20 })
    await ask('CreateJob', { name: 'b' })
    const given = await ask('GetJob', { name: 'a' })
    expect(given.status).toBe('200 OK')
    expect(await status('QueryJob', { jobID: given.json.jobID })).toBe('200 OK')
    expect((await ask('GetJob', { name: '*' })).json).toMatchObject({ name: 'b' })
    expect(await status('GetJob', { name: '*' })).toBe('404 No job found')
  })
})
