import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { put } from '../../../src/engines/beanstalkd/connection/commands.ts'
import { Session } from '../../../src/engines/beanstalkd/connection/session.ts'
import { openCoordinated } from '../../../src/engines/coordinated/index.ts'
import { openMemory } from '../../../src/engines/memory/index.ts'
import { move } from '../../../src/moving/index.ts'
import { jobInBroker } from '../../../src/queue/contract/backlog.ts'
import type { WholeBackend } from '../../../src/queue/contract/contract.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { beanstalkdUrl, freshPrefix, openFresh } from '../beanstalkd-ground.ts'

describe.skipIf(beanstalkdUrl() === null)('jobs that are still in Beanstalkd beside a store', () => {
  const clock = new ManualClock()
  let prefix = ''
  let store: WholeBackend
  let backend: ReturnType<typeof openCoordinated>
  let bench: Bench
  beforeEach(async () => {
    prefix = freshPrefix()
    store = openMemory({ clock }) as WholeBackend
    backend = openCoordinated({ broker: await openFresh({ prefix }), store, clock, logger: silentLogger })
    bench = new Bench(backend, clock)
  })
  afterEach(() => backend[Symbol.asyncDispose]())

  const inStore = async () => (await store.store.list({ limit: 2_000 })).length
  const inBroker = async () => (await backend.store.counts()).filter(({ job }) => job === jobInBroker)

  test('are counted by queue, in the sum and not by name, and counting leaves them there', async () => {
    await bench.send({ queue: 'mail' }, { queue: 'mail' }, { queue: 'größe/1' }, { delayMs: 1_000 })
    const counts = await backend.store.counts()
    const ready = counts.map(({ queue, job, counts: each }) => [queue, job, each.ready, each.scheduled])
    expect(ready.toSorted()).toEqual(
      [
        ['default', 'work', 0, 1],
        ['größe/1', jobInBroker, 1, 0],
        ['mail', jobInBroker, 2, 0],
      ].toSorted(),
    )
    expect(await backend.store.counts({ isSum: true })).toMatchObject([{ counts: { ready: 3, scheduled: 1 } }])
    expect(await backend.store.counts({ queue: 'mail' })).toMatchObject([{ queue: 'mail', counts: { ready: 2 } }])
    expect(await backend.store.counts({ job: 'work' })).toMatchObject([{ queue: 'default', counts: { scheduled: 1 } }])
    expect(await inStore()).toBe(1)
  })

  test('are found, listed, cancelled and waited for while they are few', async () => {
    const [first, second] = (await bench.send({}, {})) as [string, string]
    expect(await backend.store.get(first)).toMatchObject({ id: first, state: 'ready' })
    expect(await backend.store.cancel(second)).toMatchObject({ cancelled: 1 })
    const third = await bench.sendOne()
    expect((await backend.store.list({ state: 'ready', limit: 10 })).map(({ id }) => id)).toEqual([third, first])
    const fourth = await bench.sendOne()
    const waiting = { root: fourth, parent: null, waitsFor: [{ id: fourth, onFailure: 'fail' }], longestWaitMs: 60_000 } as const
    await bench.send({ links: waiting })
    expect(await bench.claimedIds()).toEqual([first, third, fourth])
  })

  test('stay in the broker while they are many, and are found when they are claimed', async () => {
    const ids = await bench.send(...Array.from({ length: 1_001 }, () => ({})))
    expect(await backend.store.get(ids[0] as string)).toBeNull()
    expect(await inStore()).toBe(0)
    expect(await inBroker()).toMatchObject([{ counts: { ready: 1_001 } }])
    await bench.claim({ limit: 1 })
    expect(await backend.store.get(ids[0] as string)).toMatchObject({ state: 'running' })
    expect(await inStore()).toBe(1)
    expect(await backend.store.list({ state: 'ready', limit: 2_000 })).toHaveLength(1_000)
    expect(await inBroker()).toEqual([])
  })

  test('of paused queues too are found, and are not claimed', async () => {
    await backend.store.setPaused({ queue: 'default' }, true)
    const id = await bench.sendOne()
    expect(await backend.store.get(id)).toMatchObject({ state: 'ready' })
    await bench.assertNothingClaimable()
    await backend.store.setPaused({ queue: 'default' }, false)
    expect(await bench.claimedIds()).toEqual([id])
  })

  test('are moved with the others', async () => {
    const ids = await bench.send(...Array.from({ length: 1_200 }, (_, index) => ({ payload: String(index) })))
    const delayed = await bench.sendOne({ delayMs: 60_000 })
    await using sender = await openFresh({ prefix })
    await sender.send([bench.envelope({ job: 'of another program' })])
    const target = openMemory({ clock })
    const report = await move({ from: backend, to: target })
    expect(report).toMatchObject({ moved: 1_202, isComplete: true, left: { ready: 0, scheduled: 0 } })
    const moved = new Map((await target.store.list({ limit: 2_000 })).map((job) => [job.id, job]))
    expect(ids.every((id, index) => moved.get(id)?.payload === String(index))).toBe(true)
    expect(moved.get(delayed)?.state).toBe('scheduled')
    expect(await inBroker()).toEqual([])
  })

  test('that are none are buried, named by a move, and do not keep it from ending', async () => {
    const { hostname, port } = new URL(beanstalkdUrl() ?? '')
    const session = await Session.open({ host: hostname, port: Number(port) }, { timeoutMs: 10_000 })
    await session.use(`${prefix}.default`)
    await put(session, { pri: 0, delay: 0, ttr: 30 }, 'no job')
    session.destroy()
    const id = await bench.sendOne()
    const target = openMemory({ clock })
    const report = await move({ from: backend, to: target })
    expect(report).toMatchObject({ moved: 1, isComplete: false, unreadable: ['dead letter 1 of "default" in the broker'] })
    expect(await target.store.get(id)).not.toBeNull()
    expect(await inBroker()).toMatchObject([{ counts: { ready: 0, dead: 1 } }])
  })
})
