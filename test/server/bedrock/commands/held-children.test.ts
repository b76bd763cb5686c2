import { describe, expect, test } from 'vitest'
import { gate, until } from '../../../world.ts'
import { type Served, served } from '../served.ts'

async function stateOf({ ask }: Served, jobID: number): Promise<string> {
  const { status, json } = await ask('QueryJob', { jobID })
  return status === '200 OK' ? json.state : 'gone'
}

async function states(server: Served): Promise<readonly string[]> {
  return [await stateOf(server, 1), await stateOf(server, 2)]
}

/** A client has the parent, and a child of it was made. */
async function family(options = {}): Promise<Served> {
  const server = await served(options)
  await server.ask('CreateJob', { name: 'parent' })
  await server.ask('GetJob', { name: 'parent' })
  await server.ask('CreateJob', { name: 'child', parentJobID: 1 })
  return server
}

async function childIsDone({ ask }: Served): Promise<void> {
  expect((await ask('GetJob', { name: 'child' })).json.jobID).toBe(2)
  expect((await ask('FinishJob', { jobID: 2 })).status).toBe('200 OK')
}

describe('a child that is held back', () => {
  test('is released at once if it is created while its parent begins to wait for another one', async () => {
    const server = await family()
    const { ask, backend } = server
    const { store } = backend
    const other = await server.client()
    const links = store.links.bind(store)
    store.links = async (id) => {
      store.links = links
      const found = await links(id)
      await other.ask('CreateJob', { name: 'child', parentJobID: 1 })
      return found
    }
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect([...(await states(server)), await stateOf(server, 3)]).toEqual(['PAUSED', 'QUEUED', 'QUEUED'])
  })

  test('is released at once if its parent begins to wait before it is stored', async () => {
    const server = await family()
    const { ask, backend } = server
    const other = await server.client()
    const send = backend.send.bind(backend)
    backend.send = async (...given) => {
      backend.send = send
      expect((await other.ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
      return send(...given)
    }
    expect((await ask('CreateJob', { name: 'child', parentJobID: 1 })).status).toBe('200 OK')
    expect([...(await states(server)), await stateOf(server, 3)]).toEqual(['PAUSED', 'QUEUED', 'QUEUED'])
  })

  test('is released at once if it is changed while its parent begins to wait', async () => {
    const server = await family()
    const { ask, backend } = server
    const { store } = backend
    const other = await server.client()
    const [child] = await store.numbers!.find([2])
    const amend = store.amend.bind(store)
    store.amend = async (changes) => {
      if (changes.some(({ id }) => id === child)) {
        store.amend = amend
        await other.ask('UpdateJob', { jobID: 2, data: { step: 1 } })
      }
      return amend(changes)
    }
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect(await states(server)).toEqual(['PAUSED', 'QUEUED'])
    expect((await ask('QueryJob', { jobID: 2 })).json.data).toEqual({ step: 1 })
  })

  test('is held back if its parent has stopped waiting before it is stored', async () => {
    const server = await family()
    const { ask, backend } = server
    await ask('FinishJob', { jobID: 1 })
    await ask('GetJob', { name: 'child' })
    const other = await server.client()
    const send = backend.send.bind(backend)
    backend.send = async (...given) => {
      backend.send = send
      await other.ask('FinishJob', { jobID: 2, data: { part: 1 } })
      expect((await other.ask('GetJob', { name: 'parent' })).json).toMatchObject({ finishedChildJobs: [{ jobID: 2 }] })
      return send(...given)
    }
    expect((await ask('CreateJob', { name: 'child', parentJobID: 1 })).status).toBe('200 OK')
    expect([await stateOf(server, 1), await stateOf(server, 3)]).toEqual(['RUNNING', 'PAUSED'])
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect((await ask('GetJob', { name: 'child' })).json.jobID).toBe(3)
    await ask('FinishJob', { jobID: 3 })
    expect((await ask('GetJob', { name: 'parent' })).json).toMatchObject({ finishedChildJobs: [{ jobID: 3 }] })
  })

  test('is released at once if it was stored by a try whose reply was lost', async () => {
    const server = await family()
    const { ask, backend } = server
    const other = await server.client()
    const send = backend.send.bind(backend)
    backend.send = async (...given) => {
      backend.send = send
      await other.ask('FinishJob', { jobID: 1 })
      await send(...given)
      return send(...given)
    }
    expect((await ask('CreateJob', { name: 'child', parentJobID: 1 })).json.jobID).toBe(3)
    expect([...(await states(server)), await stateOf(server, 3)]).toEqual(['PAUSED', 'QUEUED', 'QUEUED'])
  })

  test('is released at once if it is created while its running parent is deleted', async () => {
    const server = await served()
    const { ask, backend } = server
    await ask('CreateJob', { name: 'parent', retryAfter: '+1 HOUR' })
    await ask('GetJob', { name: 'parent' })
    const other = await server.client()
    const settle = backend.settle.bind(backend)
    backend.settle = async (settlements) => {
      backend.settle = settle
      await other.ask('CreateJob', { name: 'child', parentJobID: 1 })
      return settle(settlements)
    }
    expect((await ask('DeleteJob', { jobID: 1 })).status).toBe('200 OK')
    expect(await states(server)).toEqual(['gone', 'QUEUED'])
  })

  test('is released when the handler of its parent returns in a TypeScript worker', async () => {
    const server = await served()
    const { jobs, ask, clock } = server
    const { open, opened } = gate()
    const begun = gate()
    jobs.define('parent', async () => {
      begun.open()
      await opened
    })
    await ask('CreateJob', { name: 'parent' })
    const worked = jobs.run()
    await begun.opened
    await ask('CreateJob', { name: 'child', parentJobID: 1 })
    await clock.advance(20_000)
    expect(await states(server)).toEqual(['RUNNING', 'PAUSED'])
    open()
    await worked
    expect(await states(server)).toEqual(['PAUSED', 'PAUSED'])
    await clock.advance(5_000)
    await until(async () => (await stateOf(server, 2)) === 'QUEUED')
    await childIsDone(server)
    expect(await stateOf(server, 1)).toBe('gone')
  })

  test('is released at once when its parent is deleted while it runs', async () => {
    const server = await served()
    const { ask } = server
    await ask('CreateJob', { name: 'parent', retryAfter: '+1 HOUR' })
    await ask('GetJob', { name: 'parent' })
    await ask('CreateJob', { name: 'child', parentJobID: 1 })
    expect((await ask('DeleteJob', { jobID: 1 })).status).toBe('200 OK')
    expect(await states(server)).toEqual(['gone', 'QUEUED'])
  })

  test('is told to a handler of a TypeScript worker that asks for its children, and so is run again', async () => {
    const server = await served()
    const { jobs, ask, clock } = server
    const begun = gate()
    const { open, opened } = gate()
    const seen: unknown[] = []
    jobs.define('parent', async (_, ctx) => {
      begun.open()
      await opened
      for (const { state, result } of await ctx.children()) seen.push([state, result])
    })
    await ask('CreateJob', { name: 'parent' })
    const first = jobs.run()
    await begun.opened
    await ask('CreateJob', { name: 'child', parentJobID: 1 })
    open()
    await first
    await clock.advance(5_000)
    await until(async () => (await stateOf(server, 2)) === 'QUEUED')
    await ask('GetJob', { name: 'child' })
    await ask('FinishJob', { jobID: 2, data: { sum: 3 } })
    expect(await stateOf(server, 1)).toBe('QUEUED')
    await jobs.run()
    expect(seen).toEqual([['succeeded', { sum: 3 }]])
    expect(await stateOf(server, 1)).toBe('gone')
  })

  test('is released at once when it was made at another server than the one that ends its parent', async () => {
    const server = await served()
    const other = await server.restart()
    await server.ask('CreateJob', { name: 'parent' })
    await server.ask('GetJob', { name: 'parent' })
    const { jobID } = (await other.ask('CreateJob', { name: 'child', parentJobID: 1 })).json
    await server.ask('FinishJob', { jobID: 1 })
    expect([await stateOf(server, 1), await stateOf(server, jobID)]).toEqual(['PAUSED', 'QUEUED'])
    await server.ask('GetJob', { name: 'child' })
    expect((await server.ask('FinishJob', { jobID })).status).toBe('200 OK')
    expect((await server.ask('GetJob', { name: 'parent' })).json).toMatchObject({ jobID: 1, finishedChildJobs: [{ jobID }] })
    await server.ask('FinishJob', { jobID: 1 })
    expect(await stateOf(server, 1)).toBe('gone')
  })

  test('has its parent wait, also when it is made at another server at the moment in which its parent ends', async () => {
    const server = await served()
    const { ask, backend } = server
    const other = await server.restart()
    await ask('CreateJob', { name: 'parent' })
    await ask('GetJob', { name: 'parent' })
    // A job that was changed is not ended by one call alone.
    await ask('UpdateJob', { jobID: 1, data: { step: 1 } })
    const settle = backend.settle.bind(backend)
    let made: { readonly jobID: number } | undefined
    Object.assign(backend, {
      settle: async (settlements: Parameters<typeof settle>[0]) => {
        made ??= (await other.ask('CreateJob', { name: 'child', parentJobID: 1 })).json
        return settle(settlements)
      },
    })
    expect((await ask('FinishJob', { jobID: 1 })).status).toBe('200 OK')
    expect([await stateOf(server, 1), await stateOf(server, made?.jobID as number)]).toEqual(['PAUSED', 'QUEUED'])
    await ask('GetJob', { name: 'child' })
    await ask('FinishJob', { jobID: made?.jobID })
    expect((await ask('GetJob', { name: 'parent' })).json).toMatchObject({ jobID: 1, data: { step: 1 } })
  })

  test('is found by a server that was started after its parent had ended', async () => {
    const server = await family()
    await server.stop()
    const [id] = await server.backend.store.numbers!.find([1])
    const [lease] = await server.backend.store.leases({ ids: [id as string] })
    await server.backend.settle([{ token: lease?.token as string, kind: 'done', result: null, keep: false }])
    const next = await server.restart()
    expect(await states(next)).toEqual(['PAUSED', 'PAUSED'])
    await server.clock.advance(5_000)
    await until(async () => (await stateOf(next, 2)) === 'QUEUED')
    await childIsDone(next)
  })

  test('is released when its parent fails', async () => {
    const server = await family()
    await server.ask('FailJob', { jobID: 1 })
    expect(await states(server)).toEqual(['FAILED', 'QUEUED'])
    await childIsDone(server)
  })

  test('is released when its parent is deleted', async () => {
    const server = await family()
    await server.ask('RetryJob', { jobID: 1, delay: 60 })
    await server.clock.advance(10_000)
    expect(await states(server)).toEqual(['QUEUED', 'PAUSED'])
    await server.ask('DeleteJob', { jobID: 1 })
    expect(await states(server)).toEqual(['gone', 'QUEUED'])
    await childIsDone(server)
  })

  test('is released when its parent is lost too often', async () => {
    const server = await family({ lease: '10s', maxRescues: 0 })
    await server.clock.advance(11_000)
    await server.ask('GetJob', { name: 'nothing' })
    expect(await stateOf(server, 1)).toBe('FAILED')
    await server.clock.advance(5_000)
    await until(async () => (await stateOf(server, 2)) === 'QUEUED')
    await childIsDone(server)
  })

  test.each([
    ['CancelJob', 'CANCELLED'],
    ['DeleteJob', 'gone'],
  ])('%s takes it where its parent does not run', async (verb, state) => {
    const server = await family()
    await server.ask('RetryJob', { jobID: 1, delay: 60 })
    expect((await server.ask(verb, { jobID: 2 })).status).toBe('200 OK')
    expect(await states(server)).toEqual(['QUEUED', state])
  })
})
