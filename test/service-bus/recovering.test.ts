import { describe, expect, it } from 'vitest'
import type { Lease, Settlement } from '../../src/queue/contract/contract.ts'
import { Bench, until } from '../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import type { BrokerOptions } from './broker/broker.ts'
import { ServiceBusGround } from './ground.ts'

const lockMs = 30_000

async function started(options: Omit<BrokerOptions, 'clock'> = {}) {
  const clock = new ManualClock()
  const ground = await ServiceBusGround.start(clock, { settings: { lockMs }, ...options })
  const bench = new Bench(await ground.open({ client: ground.impatientClient() }), clock)
  return {
    ground,
    clock,
    bench,
    entity: ground.broker.entity('default'),
    [Symbol.asyncDispose]: () => ground[Symbol.asyncDispose](),
  }
}

describe('locks', () => {
  it('a job whose program is gone comes back when its lock ends, to another program, as a rescue and with its attempt', async () => {
    await using test = await started()
    const { bench, clock, ground } = test
    const id = await bench.sendOne()
    const stale = await bench.claimOne()
    const other = new Bench(await ground.open({ client: ground.impatientClient() }), clock)
    await clock.advance(lockMs - 1)
    await other.assertNothingClaimable()
    await clock.advance(1)
    const lease = await other.claimOne()
    expect([lease.envelope.id, lease.attempt, lease.rescues]).toEqual([id, 1, 1])
    for (const end of [...bench.endings(), bench.retry.bind(bench), (late: typeof stale) => bench.retry(late, 60_000)]) {
      const held = { ...stale, token: stale.token }
      expect((await bench.backend.settle([end(held)]))[0]).toBe('lost')
    }
    await other.settle(other.done(lease))
    expect([test.entity.size, test.entity.deadLetters?.size]).toEqual([0, 0])
  })

  it('a heartbeat renews a lock that ends before the lease would', async () => {
    await using test = await started()
    const { bench, clock } = test
    await bench.send({})
    const lease = await bench.claimOne({ leaseMs: 20_000 })
    for (let beat = 0; beat < 5; beat++) {
      await clock.advance(15_000)
      expect(await bench.backend.extend([lease.token], 20_000)).toEqual(['applied'])
    }
    await bench.settle(bench.done(lease))
    expect(test.entity.size).toBe(0)
  })

  it('a lease that is longer than the lock is kept by renewals in between', async () => {
    await using test = await started()
    const { bench, clock, ground } = test
    await bench.send({})
    const lease = await bench.claimOne({ leaseMs: 100_000 })
    const renewals = () => ground.broker.log.filter((line) => line.startsWith('renew-lock')).length
    for (let count = 1; count <= 3; count++) {
      await clock.advance(lockMs / 2)
      await until(() => renewals() >= count, `the lock was renewed ${count} times`)
      await until(() => clock.nextTimerAt !== null, 'the next renewal is planned')
    }
    await bench.settle(bench.done(lease))
  })

  it('locks that the broker drops are told as lost, and the delayed copy of a retry is withdrawn', async () => {
    await using test = await started()
    const { bench, entity } = test
    await bench.send({})
    const lease = await bench.claimOne()
    entity.dropLocks()
    expect(await bench.backend.settle([bench.retry(lease, 60_000)])).toEqual(['lost'])
    expect(entity.size).toBe(1)
    expect((await bench.claimOne()).rescues).toBe(1)
  })

  it('neighbours that end differently in one batch each end as they should', async () => {
    await using test = await started()
    const { bench, entity } = test
    await bench.send({}, {}, {}, {})
    const [first, second, third, fourth] = await bench.claim()
    const settlements = [bench.done(first!), bench.retry(second!), bench.dead(third!), bench.done(fourth!)] as Settlement[]
    await bench.settle(...settlements)
    expect([entity.size, entity.deadLetters?.size]).toEqual([1, 1])
    const again = await bench.claimOne()
    expect([again.envelope.id, again.attempt]).toEqual([second!.envelope.id, 2])
  })
})

describe('lost connections', () => {
  it('jobs that are held when the connection is cut are settled on the next one', async () => {
    await using test = await started()
    const { bench, ground, entity } = test
    await bench.send({}, {}, {})
    const [one, two, three] = await bench.claim()
    ground.broker.cut()
    await until(() => ground.broker.connections === 0, 'the connection was cut')
    await bench.send({})
    await bench.claimOne()
    await bench.settle(bench.done(one!), bench.retry(two!, 60_000), bench.dead(three!))
    expect([entity.size, entity.deadLetters?.size]).toEqual([2, 1])
  })

  it('a broker that restarts has kept everything, and is used again without any help', async () => {
    await using test = await started()
    const { bench, ground } = test
    const ids = await bench.send({}, { delayMs: 1_000 })
    await ground.broker.stop()
    await expect(bench.backend.send([bench.envelope()])).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    await ground.broker.start()
    await bench.clock.advance(1_000)
    expect(await bench.claimedIds()).toEqual(ids)
  })

  it('the end of a job whose answer is lost is applied once, and reported as applied', async () => {
    await using test = await started()
    const { bench, ground, entity } = test
    for (const end of [bench.done.bind(bench), (lease: Lease) => bench.retry(lease, 1_000)]) {
      await bench.send({})
      const lease = await bench.claimOne()
      ground.broker.cutBeforeAnswering('settle')
      await bench.settle(end(lease))
    }
    expect(entity.size).toBe(1)
    await bench.clock.advance(1_000)
    expect((await bench.claimOne()).attempt).toBe(2)
  })

  it('a slow answer of the broker loses no message', async () => {
    await using test = await started()
    const { bench, ground, entity } = test
    await bench.send({}, {})
    ground.broker.drainDelayMs = 400
    const leases = [...(await bench.claim())]
    ground.broker.drainDelayMs = 0
    await bench.send({})
    leases.push(...(await bench.claim()))
    expect(leases.length).toBe(3)
    await bench.settle(...leases.map((lease) => bench.done(lease)))
    expect(entity.size).toBe(0)
  })
})
