import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { peek, statistic, statistics } from '../../../src/engines/beanstalkd/connection/commands.ts'
import type { Session } from '../../../src/engines/beanstalkd/connection/session.ts'
import type { BeanstalkdBackend } from '../../../src/engines/beanstalkd/index.ts'
import { readMessage } from '../../../src/engines/broker/message.ts'
import { Bench, unlimited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { beanstalkdUrl, freshPrefix, openFresh, rawSession } from '../beanstalkd-ground.ts'

describe.skipIf(beanstalkdUrl() === null)('jobs that Beanstalkd keeps aside', () => {
  let prefix: string
  let backend: BeanstalkdBackend
  let bench: Bench
  let raw: Session
  beforeEach(async () => {
    prefix = freshPrefix()
    const clock = new ManualClock()
    backend = await openFresh({ prefix, clock })
    bench = new Bench(backend, clock)
    raw = await rawSession()
    await raw.use(`${prefix}.default`)
  })
  afterEach(async () => {
    raw.destroy()
    await backend[Symbol.asyncDispose]()
  })

  const count = async (state: string) =>
    Number(statistic((await statistics(raw, `stats-tube ${prefix}.default`)) ?? '', `current-jobs-${state}`) ?? 0)
  const buried = async () => readMessage(((await peek(raw, 'peek-buried'))?.body ?? '').toString(), 0)
  /** A worker that claims a job and dies. */
  const dieWith = async (act: (worker: Bench) => Promise<unknown>) => {
    const worker = new Bench(await openFresh({ prefix, clock: bench.clock }), bench.clock)
    await act(worker)
    await worker.backend[Symbol.asyncDispose]()
  }

  test('a dead job is buried with its reason and its errors, and a kick replays it with all its attempts', async () => {
    const id = await bench.sendOne()
    await bench.settle(bench.retry(await bench.claimOne()))
    await bench.settle(bench.dead(await bench.claimOne()))
    const letter = await buried()
    expect(letter).toMatchObject({ dead: 'exhausted', attempts: 1, envelope: { id } })
    expect(letter.errors.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, 'it broke'],
      [2, 'it broke'],
    ])
    expect([await count('buried'), await count('ready'), await count('delayed')]).toEqual([1, 0, 0])
    expect((await raw.ask('kick 1')).args).toEqual(['1'])
    const again = await bench.claimOne()
    expect([again.envelope.id, again.attempt, again.rescues]).toEqual([id, 1, 0])
    await bench.settle(bench.dead(again))
    expect((await buried()).errors).toHaveLength(3)
  })

  test.each(['not JSON', '{"v":1}', '', '\u0000\u0001'])('a body that is no envelope is buried as it is: %j', async (text) => {
    await raw.ask('put 0 0 60', text)
    const id = await bench.sendOne()
    expect(await bench.claimedIds()).toEqual([id])
    expect((await peek(raw, 'peek-buried'))?.body.toString()).toBe(text)
  })

  test('a job that nobody here handles goes back with a delay, is counted, and is found by those who do', async () => {
    const [, mine] = await bench.send({ job: 'foreign', priority: 9 }, {})
    expect(await bench.claimedIds()).toEqual([mine])
    expect([...backend.unhandled]).toEqual([['foreign', 1]])
    expect([await count('delayed'), await count('ready')]).toEqual([1, 0])
    await bench.assertNothingClaimable()
    expect([...backend.unhandled]).toEqual([['foreign', 1]])
    expect((await claimSoon(bench, { jobs: unlimited('foreign') })).envelope.job).toBe('foreign')
  })

  test('jobs of a worker that died are back at once, and say how often that happened', async () => {
    const id = await bench.sendOne()
    for (const rescues of [0, 1, 2, 3]) {
      await dieWith(async (worker) => {
        const lease = await claimSoon(worker)
        expect([lease.envelope.id, lease.attempt, lease.rescues]).toEqual([id, 1, rescues])
      })
    }
  })

  test('one that was held alone each time is given up as poisoned', async () => {
    await bench.send({})
    for (let death = 0; death < 3; death++) await dieWith((worker) => claimSoon(worker, { maxRescues: 2, amongOthers: false }))
    await untilAsync(async () => (await count('ready')) === 1)
    await bench.assertNothingClaimable({ maxRescues: 2 })
    expect(await buried()).toMatchObject({ dead: 'poisoned', errors: [{ message: 'Its worker died or hung 3 times' }] })
  })

  test('one whose handler must never be called again is dead as interrupted when its worker dies', async () => {
    await bench.send({})
    await dieWith(async (worker) => {
      const lease = await claimSoon(worker, { owner: 'worker-9' })
      expect(await worker.backend.begin([lease.token])).toEqual(['applied'])
    })
    await untilAsync(async () => (await count('ready')) === 1)
    await bench.assertNothingClaimable()
    const letter = await buried()
    expect([letter.dead, letter.errors[0]?.message]).toEqual(['interrupted', expect.stringContaining('worker-9 died or hung')])
  })

  test('a snooze takes the beginning back', async () => {
    await bench.send({})
    const lease = await bench.claimOne()
    await bench.backend.begin([lease.token])
    await bench.settle(bench.snooze(lease))
    expect((await bench.claimOne()).attempt).toBe(1)
  })

  test('priorities are the other way round there, and the body is the wire form that all brokers have', async () => {
    await bench.send({ priority: 9, payload: '{"a":1}' })
    const job = await peek(raw, 'peek-ready')
    expect(statistic((await statistics(raw, `stats-job ${job?.serverId}`)) ?? '', 'pri')).toBe(String(65_536 - 9))
    expect(JSON.parse((job?.body ?? '').toString())).toMatchObject({
      v: 1,
      job: 'work',
      payload: { a: 1 },
      priority: 9,
      attempts: 0,
    })
  })

  test('a job that is too large for the server is refused, and nothing of its batch is stored', async () => {
    const batch = [bench.envelope(), bench.envelope({ payload: JSON.stringify('x'.repeat(70_000)) })]
    await expect(backend.send(batch)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('-z') })
    await bench.assertNothingClaimable()
  })

  test('errors that would make a job too large are shortened, and the job goes on', async () => {
    await bench.send({ payload: JSON.stringify('x'.repeat(60_000)) })
    const lease = await bench.claimOne()
    const error = { attempt: 1, at: 0, message: 'y'.repeat(5_000), stack: 'z'.repeat(20_000) }
    await bench.settle({ token: lease.token, kind: 'retry', delayMs: 0, error })
    expect((await bench.claimOne()).attempt).toBe(2)
  })
})

async function claimSoon(worker: Bench, request: Parameters<Bench['claim']>[0] = { amongOthers: true }) {
  for (;;) {
    const [lease] = await worker.claim(request)
    if (lease !== undefined) return lease
  }
}

async function untilAsync(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition()));
}
