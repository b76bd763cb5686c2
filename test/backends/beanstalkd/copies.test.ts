import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { peek, put, statistic, statistics } from '../../../src/engines/beanstalkd/connection/commands.ts'
import type { Session } from '../../../src/engines/beanstalkd/connection/session.ts'
import type { BeanstalkdBackend } from '../../../src/engines/beanstalkd/index.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { until } from '../../world.ts'
import { beanstalkdUrl, freshPrefix, openFresh, rawSession } from '../beanstalkd-ground.ts'

describe.skipIf(beanstalkdUrl() === null)('a job that a crash has left twice in Beanstalkd', () => {
  let backend: BeanstalkdBackend
  let bench: Bench
  let raw: Session
  let tube: string
  beforeEach(async () => {
    const prefix = freshPrefix()
    const clock = new ManualClock()
    tube = `${prefix}.default`
    backend = await openFresh({ prefix, clock })
    bench = new Bench(backend, clock)
    raw = await rawSession()
    await raw.use(tube)
  })
  afterEach(async () => {
    raw.destroy()
    await backend[Symbol.asyncDispose]()
  })

  /** Puts what is first in the queue once more, as a crash between the put of a changed copy and the delete leaves it. */
  const duplicate = async () => put(raw, { pri: 65_536, delay: 0, ttr: 30 }, (await peek(raw, 'peek-ready'))?.body ?? '')
  const count = async (state: string) =>
    Number(statistic((await statistics(raw, `stats-tube ${tube}`)) ?? '', `current-jobs-${state}`) ?? 0)

  test('is run by one claim, and its other copy is deleted when it has succeeded', async () => {
    const id = await bench.sendOne()
    await duplicate()
    expect(await count('ready')).toBe(2)
    const leases = await bench.claim()
    expect(leases.map(({ envelope }) => envelope.id)).toEqual([id])
    await bench.settle(bench.done(leases[0] as (typeof leases)[0]))
    await until(async () => (await bench.claimedIds()).length === 0 && (await count('ready')) + (await count('delayed')) === 0)
  })

  test('is run by one claim, and its other copy is deleted, if it has to be tried again before', async () => {
    await bench.sendOne()
    await duplicate()
    await bench.settle(bench.retry(await bench.claimOne()))
    const [lease] = await bench.claim()
    await bench.settle(bench.done(lease as NonNullable<typeof lease>))
    await until(async () => (await bench.claimedIds()).length === 0 && (await count('ready')) + (await count('delayed')) === 0)
  })

  test('is not taken for one that is sent again after its end', async () => {
    const id = await bench.sendOne()
    await bench.settle(bench.done(await bench.claimOne()))
    await bench.send({ id })
    expect(await bench.claimedIds()).toEqual([id])
  })
})
