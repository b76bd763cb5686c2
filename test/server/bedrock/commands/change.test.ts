import { describe, expect, test } from 'vitest'
import { gate, until } from '../../../world.ts'
import { type Client, type Served, served } from '../served.ts'

describe('UpdateJob', () => {
  test('changes a job that waits, runs or has failed', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a' })
    const update = async (step: string) => {
      expect((await ask('UpdateJob', { jobID: 1, data: { step }, jobPriority: 850 })).status).toBe('200 OK')
      expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ data: { step }, priority: 850 })
    }
    await update('waits')
    await ask('GetJob', { name: 'a' })
    await update('runs')
    await ask('FailJob', { jobID: 1 })
    await update('failed')
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('FAILED')
  })

  test('data that is written again keeps its numbers as the client wrote them', async () => {
    const { ask } = await served()
    const numbers = '{"a":1.0,"b":[2.50,1e3,-0],"c":12345678901234567890}'
    const isKept = async () => expect((await ask('QueryJob', { jobID: 1 })).body).toContain(numbers.slice(0, -1))
    await ask('CreateJob', { name: 'a', data: numbers, unique: true, retryAfter: '+1 HOUR' })
    await ask('GetJob', { name: 'a' })
    await isKept()
    await ask('RequeueJobs', { jobIDs: 1, decrementFailures: true })
    await isKept()
    await ask('CreateJob', { name: 'a', data: { d: 1 }, unique: true, overwrite: true })
    await isKept()
    await ask('UpdateJob', { jobID: 1, data: numbers })
    await isKept()
  })

  test('gives the worker that reports its job for as long again', async () => {
    const { ask, clock } = await served({ lease: '60s' })
    await ask('CreateJob', { name: 'a' })
    await ask('GetJob', { name: 'a' })
    await clock.advance(50_000)
    await ask('UpdateJob', { jobID: 1, data: { progress: 50 } })
    await clock.advance(50_000)
    expect((await ask('GetJob', { name: 'a' })).status).toBe('404 No job found')
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
  })

  test.each([
    [{ repeat: 'FINISHED, +1 HOUR' }, { repeat: 'FINISHED, +1 HOUR', nextRun: '2026-01-01 01:00:00' }],
    [{ repeat: 'SCHEDULED, +1 DAY' }, { nextRun: '2026-01-02 00:00:00' }],
    [
      { repeat: 'FINISHED, +1 HOUR', nextRun: '2026-05-01' },
      { nextRun: '2026-05-01 00:00:00', repeat: 'FINISHED, +1 HOUR' },
    ],
    [{ nextRun: '2026-05-01 10:00:00' }, { nextRun: '2026-05-01 10:00:00' }],
    [{ shouldClearRepeat: 1 }, { repeat: '' }],
    [{ shouldClearRepeat: true }, { repeat: 'FINISHED, +2 HOURS' }],
    [{ repeat: '' }, { repeat: 'FINISHED, +2 HOURS' }],
  ])('with %j leads to %j', async (headers, found) => {
    const { ask } = await served({ at: Date.UTC(2026, 0, 1) })
    await ask('CreateJob', { name: 'a', repeat: 'FINISHED, +2 HOURS' })
    expect((await ask('UpdateJob', { jobID: 1, data: { a: 1 }, ...headers })).status).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject(found)
  })

  test.each([
    [{}, '402 Missing data'],
    [{ data: `"${'x'.repeat(1024 * 1024)}"` }, '402 Malformed data'],
    [{ data: '{}', repeat: 'never' }, '402 Malformed repeat'],
    [{ data: '{}', jobPriority: 1 }, '402 Invalid priority value'],
    [{ data: '{}', repeat: 'STARTED, +1 DAY' }, '400 Unique Constraints Violation'],
    [{ data: '{}', nextRun: 'x' }, '402 Malformed nextRun'],
  ])('is answered as it should be (%#)', async (headers, status) => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a' })
    expect((await ask('UpdateJob', { jobID: 1, ...headers })).status).toBe(status)
  })

  test('what is no JSON is an empty object, and everything else is written anew', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a', data: { a: 1 } })
    await ask('UpdateJob', { jobID: 1, data: 'x' })
    expect((await ask('QueryJob', { jobID: 1 })).json.data).toEqual({})
    await ask('UpdateJob', { jobID: 1, data: '[1,  2]' })
    expect((await ask('QueryJob', { jobID: 1 })).body).toContain('"data":[1,2]')
  })
})

describe('UpdateJob, while a client of another server is faster', () => {
  /** Does this when the change is about to be written, which was made of the job as it was before. */
  async function overtakenBy({ backend, restart }: Served, ...first: Parameters<Served['ask']>): Promise<void> {
    const { store } = backend
    const other = await restart()
    const amend = store.amend.bind(store)
    store.amend = async (amendments) => {
      store.amend = amend
      await other.ask(...first)
      return amend(amendments)
    }
  }

  test('a job that was finished meanwhile waits for its next time, with what was written', async () => {
    const server = await served({ at: Date.UTC(2026, 0, 1) })
    const { ask } = server
    await ask('CreateJob', { name: 'a', repeat: 'FINISHED, +1 HOUR' })
    await ask('GetJob', { name: 'a' })
    await overtakenBy(server, 'FinishJob', { jobID: 1 })
    expect((await ask('UpdateJob', { jobID: 1, data: { a: 1 } })).status).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({
      state: 'QUEUED',
      nextRun: '2026-01-01 01:00:00',
      data: { a: 1 },
    })
    expect((await ask('GetJob', { name: 'a' })).status).toBe('404 No job found')
  })

  test('what a job is to be next is worked out of how it stands by then', async () => {
    const server = await served({ at: Date.UTC(2026, 0, 1) })
    const { ask } = server
    await ask('CreateJob', { name: 'a', repeat: 'SCHEDULED, +1 HOUR' })
    await ask('GetJob', { name: 'a' })
    await overtakenBy(server, 'FinishJob', { jobID: 1, data: { done: 1 } })
    await ask('UpdateJob', { jobID: 1, data: { a: 1 }, repeat: 'SCHEDULED, +1 DAY' })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ nextRun: '2026-01-02 01:00:00', data: { a: 1 } })
  })

  test('a job that is taken up by its name keeps what was written meanwhile', async () => {
    const server = await served()
    const { ask } = server
    await ask('CreateJob', { name: 'a', data: { a: 1 }, unique: true })
    await overtakenBy(server, 'UpdateJob', { jobID: 1, data: { a: 1, b: 2 } })
    expect((await ask('CreateJob', { name: 'a', data: { c: 3 }, unique: true })).json).toEqual({ jobID: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json.data).toEqual({ a: 1, b: 2, c: 3 })
  })
})

describe('changes of one job at one server', () => {
  test('take turns: what is written while a job is being finished is not lost', async () => {
    const { ask, client, backend } = await served({ at: Date.UTC(2026, 0, 1) })
    await ask('CreateJob', { name: 'a', repeat: 'FINISHED, +1 HOUR', data: { a: 1 } })
    await ask('GetJob', { name: 'a' })
    const other = await client()
    const settle = backend.settle.bind(backend)
    let updating: ReturnType<Client['ask']> | undefined
    Object.assign(backend, {
      settle: async (settlements: Parameters<typeof settle>[0]) => {
        updating ??= other.ask('UpdateJob', { jobID: 1, data: { a: 2 } })
        // It has come when the next request of another client is answered.
        await (await client()).ask('Ping')
        return settle(settlements)
      },
    })
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect((await updating)?.status).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'QUEUED', data: { a: 2 } })
  })

  test('take turns: a unique job that is made again while it is being finished has what it was made with', async () => {
    const { ask, client, backend } = await served({ at: Date.UTC(2026, 0, 1) })
    const repeat = 'FINISHED, +1 HOUR'
    await ask('CreateJob', { name: 'a', unique: true, repeat, data: { a: 1 } })
    await ask('GetJob', { name: 'a' })
    const other = await client()
    let making: ReturnType<Client['ask']> | undefined
    const settle = backend.settle.bind(backend)
    Object.assign(backend, {
      settle: async (settlements: Parameters<typeof settle>[0]) => {
        making ??= other.ask('CreateJob', { name: 'a', unique: true, repeat, data: { b: 2 }, jobPriority: 850 })
        await (await client()).ask('Ping')
        return settle(settlements)
      },
    })
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect((await making)?.json).toEqual({ jobID: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'QUEUED', data: { a: 1, b: 2 }, priority: 850 })
  })

  test('take turns: a unique job that is finished for good before it could be made again is made anew', async () => {
    const { ask, client, backend } = await served()
    await ask('CreateJob', { name: 'a', unique: true, data: { a: 1 } })
    await ask('GetJob', { name: 'a' })
    const other = await client()
    let making: ReturnType<Client['ask']> | undefined
    const settle = backend.settle.bind(backend)
    Object.assign(backend, {
      settle: async (settlements: Parameters<typeof settle>[0]) => {
        making ??= other.ask('CreateJob', { name: 'a', unique: true, data: { b: 2 } })
        await (await client()).ask('Ping')
        return settle(settlements)
      },
    })
    // A job that was changed is not ended by one call alone.
    await ask('UpdateJob', { jobID: 1, data: { a: 3 } })
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect((await making)?.json).toEqual({ jobID: 2 })
    expect((await ask('QueryJob', { jobID: 2 })).json).toMatchObject({ state: 'QUEUED', data: { b: 2 } })
  })

  test('take turns: what is written while a job with a retryAfter is being handed out is not lost', async () => {
    const { ask, client, backend } = await served()
    const { store } = backend
    await ask('CreateJob', { name: 'a', retryAfter: '+5 MINUTES', data: { a: 1 } })
    const other = await client()
    let updating: ReturnType<Client['ask']> | undefined
    const amend = store.amend.bind(store)
    store.amend = async (amendments) => {
      store.amend = amend
      updating = other.ask('UpdateJob', { jobID: 1, data: { a: 2 } })
      await (await client()).ask('Ping')
      return amend(amendments)
    }
    expect((await ask('GetJob', { name: 'a' })).json).toMatchObject({ jobID: 1, data: { a: 1 } })
    expect((await updating)?.status).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'RUNQUEUED', data: { a: 2 } })
  })

  test('of which one is refused do not hold up the next', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a' })
    expect((await ask('FinishJob', { jobID: 1 })).status).toMatch(/^405/)
    expect((await ask('UpdateJob', { jobID: 1, data: { a: 2 } })).status).toBe('200 OK')
  })
})

describe('a job with a retryAfter, between its claim and its reply', () => {
  /** Does this as soon as the job is claimed. */
  async function claimedBefore({ backend, client }: Served, ...next: Parameters<Served['ask']>): Promise<void> {
    const other = await client()
    const lease = backend.lease.bind(backend)
    Object.assign(backend, {
      lease: async (request: Parameters<typeof lease>[0]) => {
        const batch = await lease(request)
        if (batch.leases.length > 0) expect((await other.ask(...next)).status).toBe('200 OK')
        return batch
      },
    })
  }

  test('keeps what is written', async () => {
    const server = await served()
    const { ask } = server
    await ask('CreateJob', { name: 'a', retryAfter: '+5 MINUTES', data: { a: 1 } })
    await claimedBefore(server, 'UpdateJob', { jobID: 1, data: { a: 2 }, jobPriority: 850 })
    expect((await ask('GetJob', { name: 'a' })).json.jobID).toBe(1)
    const { data, priority } = (await ask('QueryJob', { jobID: 1 })).json
    expect([data, priority]).toEqual([{ a: 2, retryAfterCount: 1 }, 850])
  })

  test('is not handed out when it is deleted', async () => {
    const server = await served()
    const { ask } = server
    await ask('CreateJob', { name: 'a', retryAfter: '+5 MINUTES' })
    await claimedBefore(server, 'DeleteJob', { jobID: 1 })
    expect((await ask('GetJob', { name: 'a' })).body).toBe('{}')
  })
})

describe('DeleteJob', () => {
  test('leaves nothing of a job that waits or has failed', async () => {
    const { ask, backend } = await served()
    await ask('CreateJob', { name: 'a' })
    await ask('CreateJob', { name: 'a' })
    await ask('GetJob', { name: 'a' })
    await ask('FailJob', { jobID: 1 })
    for (const jobID of [1, 2]) {
      expect((await ask('DeleteJob', { jobID })).status).toBe('200 OK')
      expect((await ask('QueryJob', { jobID })).status).toBe('404 No job with this jobID')
    }
    expect(await backend.store.list({ limit: 10 })).toEqual([])
  })

  test('refuses a job that runs, but not one that would be handed out again', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a' })
    await ask('CreateJob', { name: 'b', retryAfter: '+1 HOUR' })
    await ask('GetJobs', { name: '*', numResults: 2 })
    expect((await ask('DeleteJob', { jobID: 1 })).status).toBe("405 Can't delete a RUNNING job")
    expect((await ask('DeleteJob', { jobID: 2 })).status).toBe('200 OK')
  })
})

describe('RequeueJobs', () => {
  test('lets jobs wait as if they had just been made, whatever became of them', async () => {
    const { ask, clock } = await served({ at: Date.UTC(2026, 0, 1) })
    for (const name of ['runs', 'failed', 'waits']) await ask('CreateJob', { name, firstRun: '2026-01-01' })
    await ask('UpdateJob', { jobID: 3, data: {}, nextRun: '2027-01-01' })
    await ask('UpdateJob', { jobID: 3, data: '{}', nextRun: '2027-01-01' })
    await ask('GetJob', { name: 'runs' })
    await ask('GetJob', { name: 'failed' })
    await ask('FailJob', { jobID: 2 })
    await clock.advance(60_000)
    expect((await ask('RequeueJobs', { jobIDs: '1, 2,3,junk,99' })).status).toBe('200 OK')
    for (const jobID of [1, 2, 3]) {
      const { json } = await ask('QueryJob', { jobID })
      expect([jobID, json.state, json.nextRun]).toEqual([jobID, 'QUEUED', '2026-01-01 00:00:00'])
    }
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('405 Can only retry/finish RUNNING and RUNQUEUED jobs')
  })

  test('their nextRun is when they were created, which is told in whole seconds', async () => {
    const { ask, clock } = await served({ at: Date.UTC(2026, 0, 1) + 345 })
    await ask('CreateJob', { name: 'waits' })
    expect((await ask('QueryJob', { jobID: 1 })).json.nextRun).toBe('2026-01-01 00:00:00.345')
    await clock.advance(1_000)
    await ask('RequeueJobs', { jobIDs: 1 })
    const { created, nextRun } = (await ask('QueryJob', { jobID: 1 })).json
    expect([created, nextRun]).toEqual(['2026-01-01 00:00:00', '2026-01-01 00:00:00'])
  })

  test('a parent that waits for its children is handed out at once, and waits again when it is finished', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'parent', data: { n: 1 } })
    await ask('GetJob', { name: 'parent' })
    await ask('CreateJob', { name: 'child', parentJobID: 1 })
    await ask('FinishJob', { jobID: 1, data: { n: 2 } })
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('PAUSED')
    await ask('RequeueJobs', { jobIDs: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json).toMatchObject({ state: 'QUEUED', data: { n: 2 } })
    expect((await ask('GetJob', { name: 'parent' })).json).toMatchObject({ jobID: 1, data: { n: 2 } })
    await ask('FinishJob', { jobID: 1 })
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('PAUSED')
    await ask('GetJob', { name: 'child' })
    await ask('FinishJob', { jobID: 2, data: { done: true } })
    expect((await ask('GetJob', { name: 'parent' })).json).toMatchObject({ jobID: 1, finishedChildJobs: [{ jobID: 2 }] })
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 1 })).status).toBe('404 No job with this jobID')
  })

  test('a job that comes after another one in a workflow goes on waiting for it', async () => {
    const { ask, jobs } = await served()
    const step = jobs.define('step', () => {})
    const flow = await jobs.chain([step.step(null, { delay: '1h' }), step.step(null)])
    const waits = await jobs.handle(flow.runs[1]?.id ?? '')
    const [number = null] = (await (await jobs.store()).numbers?.assign([waits.id])) ?? []
    expect((await ask('RequeueJobs', { jobIDs: number ?? 0 })).status).toBe('200 OK')
    expect(await waits.state()).toBe('blocked')
  })

  test('may rename them, and count a failure back', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a', data: { retryAfterCount: 3 } })
    await ask('RequeueJobs', { jobIDs: 1, name: 'b', decrementFailures: true })
    expect((await ask('GetJob', { name: 'b' })).json).toMatchObject({ jobID: 1, data: { retryAfterCount: 2 } })
  })

  test('takes a bounded number of them', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a' })
    await ask('GetJob', { name: 'a' })
    const jobIDs = Array.from({ length: 10_001 }, (_, index) => index + 1).join(',')
    expect((await ask('RequeueJobs', { jobIDs })).status).toBe('402 More than 10000 jobs at once')
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('RUNNING')
  })

  test('goes on only while somebody waits for the reply', async () => {
    const { ask, backend, clock } = await served()
    for (const name of ['a', 'b']) await ask('CreateJob', { name })
    await ask('GetJobs', { name: '*', numResults: 2 })
    const look = backend.store.get
    backend.store.get = async (id) => {
      backend.store.get = look
      const found = await look.call(backend.store, id)
      await clock.advance(1_000)
      return found
    }
    expect((await ask('RequeueJobs', { jobIDs: '1,2', timeout: 1_000 })).status).toMatch(/^555 /)
    await until(async () => (await ask('QueryJob', { jobID: 1 })).json.state === 'QUEUED')
    expect((await ask('QueryJob', { jobID: 2 })).json.state).toBe('RUNNING')
  })

  test('of none is fine', async () => {
    expect(await (await served()).status('RequeueJobs')).toBe('200 OK')
  })
})

describe('a parent', () => {
  async function family() {
    const server = await served({ at: Date.UTC(2026, 0, 1) })
    const { ask } = server
    await ask('CreateJob', { name: 'parent', data: { p: 1 } })
    await ask('GetJob', { name: 'parent' })
    await ask('CreateJob', { name: 'child', parentJobID: 1, data: { n: 1 } })
    await ask('CreateJob', { name: 'child', parentJobID: 1, data: { n: 2 } })
    const states = async () => {
      const found: string[] = []
      for (const jobID of [1, 2, 3]) {
        const { status, json } = await ask('QueryJob', { jobID })
        found.push(status === '200 OK' ? json.state : 'gone')
      }
      return found
    }
    return { ...server, states }
  }

  test('waits for its children, and goes on with what they left behind', async () => {
    const { ask, states } = await family()
    expect(await states()).toEqual(['RUNNING', 'PAUSED', 'PAUSED'])
    expect((await ask('GetJob', { name: 'child' })).status).toBe('404 No job found')
    expect((await ask('FinishJob', { jobID: 1, data: { p: 2 } })).status).toBe('200 OK')
    expect(await states()).toEqual(['PAUSED', 'QUEUED', 'QUEUED'])

    expect((await ask('GetJob', { name: 'child' })).json).toMatchObject({ jobID: 2, parentJobID: 1, parentData: { p: 2 } })
    await ask('FinishJob', { jobID: 2, data: { n: 1, done: true } })
    expect(await states()).toEqual(['PAUSED', 'FINISHED', 'QUEUED'])
    expect((await ask('CancelJob', { jobID: 3 })).status).toBe('200 OK')
    expect(await states()).toEqual(['QUEUED', 'FINISHED', 'CANCELLED'])

    expect((await ask('GetJob', { name: 'parent' })).json).toMatchObject({
      jobID: 1,
      data: { p: 2 },
      finishedChildJobs: [{ jobID: 2, data: { n: 1, done: true } }],
      cancelledChildJobs: [{ jobID: 3, data: { n: 2 } }],
    })
    await ask('FinishJob', { jobID: 1 })
    expect(await states()).toEqual(['gone', 'gone', 'gone'])
  })

  test('waits with the nextRun that is its lastRun', async () => {
    const { ask, clock } = await served({ at: Date.UTC(2026, 0, 1) + 345 })
    await ask('CreateJob', { name: 'parent' })
    await clock.advance(2_000)
    await ask('GetJob', { name: 'parent' })
    await ask('CreateJob', { name: 'child', parentJobID: 1 })
    await clock.advance(2_000)
    await ask('FinishJob', { jobID: 1 })
    const { state, lastRun, nextRun } = (await ask('QueryJob', { jobID: 1 })).json
    expect([state, lastRun, nextRun]).toEqual(['PAUSED', '2026-01-01 00:00:02', '2026-01-01 00:00:02'])
  })

  test('is told what was written to a child after that had finished', async () => {
    const { ask } = await family()
    await ask('FinishJob', { jobID: 1 })
    await ask('GetJobs', { name: 'child', numResults: 2 })
    await ask('FinishJob', { jobID: 2, data: { n: 1, done: true } })
    await ask('UpdateJob', { jobID: 2, data: { n: 1, checked: true } })
    expect((await ask('QueryJob', { jobID: 2 })).json).toMatchObject({ state: 'FINISHED', data: { n: 1, checked: true } })
    await ask('FinishJob', { jobID: 3, data: { n: 2 } })
    expect((await ask('GetJob', { name: 'parent' })).json.finishedChildJobs).toEqual([
      { jobID: 2, data: { n: 1, checked: true } },
      { jobID: 3, data: { n: 2 } },
    ])
    // What it finishes with the next time counts again.
    await ask('RequeueJobs', { jobIDs: 2 })
    await ask('FinishJob', { jobID: 1 })
    await ask('GetJob', { name: 'child' })
    await ask('FinishJob', { jobID: 2, data: { n: 1, again: true } })
    expect((await ask('QueryJob', { jobID: 2 })).json.data).toEqual({ n: 1, again: true })
  })

  test('is not left waiting for ever by a child that fails', async () => {
    const { ask, states } = await family()
    await ask('FinishJob', { jobID: 1 })
    await ask('GetJobs', { name: 'child', numResults: 2 })
    await ask('FailJob', { jobID: 2 })
    expect(await states()).toEqual(['PAUSED', 'FAILED', 'RUNNING'])
    await ask('FinishJob', { jobID: 3 })
    expect(await states()).toEqual(['QUEUED', 'FAILED', 'FINISHED'])
    expect((await ask('GetJob', { name: 'parent' })).json.failedChildJobs).toEqual([{ jobID: 2, data: { n: 1 } }])
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
  })

  test('may get more children while it waits for others', async () => {
    const { ask } = await family()
    await ask('FinishJob', { jobID: 1 })
    await ask('CreateJob', { name: 'late', parentJobID: 1 })
    expect((await ask('QueryJob', { jobID: 4 })).json.state).toBe('QUEUED')
    for (const name of ['child', 'child', 'late']) {
      const { json } = await ask('GetJob', { name })
      expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('PAUSED')
      await ask('FinishJob', { jobID: json.jobID })
    }
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('QUEUED')
  })

  test('that is tried again is told once more of the children that failed, and of no others', async () => {
    const { ask, states } = await family()
    await ask('FinishJob', { jobID: 1 })
    await ask('GetJobs', { name: 'child', numResults: 2 })
    await ask('FailJob', { jobID: 2 })
    await ask('FinishJob', { jobID: 3 })
    await ask('GetJob', { name: 'parent' })
    expect((await ask('RetryJob', { jobID: 1, jobPriority: 1 })).status).toBe('402 Invalid priority value')
    expect(await states()).toEqual(['RUNNING', 'FAILED', 'FINISHED'])
    expect((await ask('RetryJob', { jobID: 1 })).status).toBe('200 OK')
    expect(await states()).toEqual(['QUEUED', 'FAILED', 'gone'])
    const { json } = await ask('GetJob', { name: 'parent' })
    expect(json.failedChildJobs).toEqual([{ jobID: 2, data: { n: 1 } }])
    expect(json.finishedChildJobs).toBeUndefined()
  })

  test('lets its children end as soon as they are released', async () => {
    const { ask, client, backend, states } = await family()
    const settle = backend.settle
    const { open, opened } = gate()
    backend.settle = async (settlements) => {
      if (settlements.some(({ kind }) => kind === 'wait')) await opened
      return settle.call(backend, settlements)
    }
    const parent = await client()
    const finishing = parent.ask('FinishJob', { jobID: 1 })
    await until(async () => (await states())[2] === 'QUEUED')
    expect(await states()).toEqual(['RUNNING', 'QUEUED', 'QUEUED'])
    await ask('GetJob', { name: 'child' })
    // The parent waits only when the child's end was looked at.
    const { leases } = backend.store
    backend.store.leases = (filter) => {
      open()
      return leases.call(backend.store, filter)
    }
    const child = ask('FinishJob', { jobID: 2 })
    void child.then(() => open())
    expect([(await finishing).status, (await child).status]).toEqual(['200 OK', '200 OK'])
    expect(await states()).toEqual(['PAUSED', 'FINISHED', 'QUEUED'])
  })

  test('what cannot be is refused', async () => {
    const { ask } = await family()
    const status = async (verb: string, headers: object) => (await ask(verb, headers as never)).status
    expect(await status('CreateJob', { name: 'x', parentJobID: 2 })).toBe('405 Cannot create grandchildren')
    await ask('CreateJob', { name: 'waits' })
    expect(await status('CreateJob', { name: 'x', parentJobID: 4 })).toBe(
      '405 Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED',
    )
    expect(await status('CancelJob', { jobID: 1 })).toBe('404 Invalid jobID - Cannot cancel a job with children')
    expect(await status('CancelJob', { jobID: 4 })).toBe('404 Invalid jobID - Cannot cancel a job without a parent')
    expect(await status('DeleteJob', { jobID: 2 })).toBe("405 Can't delete a parent jobs with children running")
    await ask('FinishJob', { jobID: 1 })
    expect(await status('DeleteJob', { jobID: 1 })).toBe("405 Can't delete a parent jobs with children running")
    await ask('GetJob', { name: 'child' })
    expect(await status('CancelJob', { jobID: 2 })).toBe('200 OK')
    expect((await ask('QueryJob', { jobID: 2 })).json.state).toBe('RUNNING')
    expect(await status('CreateJob', { name: 'child', unique: true, data: { n: 9 } })).toBe(
      '404 Trying to create a child that already exists, but it is tied to a different parent',
    )
  })
})
