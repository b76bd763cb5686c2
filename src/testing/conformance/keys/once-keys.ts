import assert from 'node:assert/strict'
import type { Lease, Settlement } from '../../../queue/contract/contract.ts'
import type { Bench } from '../bench.ts'
import { oddText } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

async function twoRunning(bench: Bench, leaseMs = 30_000): Promise<readonly [Lease, Lease]> {
  await bench.send({}, {})
  const [one, two] = await bench.claim({ leaseMs })
  assert.ok(one && two)
  return [one, two]
}

async function claim(bench: Bench, key: string, lease: Lease): Promise<string> {
  return (await bench.coordination.claimOnce(key, lease.envelope.id)).kind
}

export const onceKeys: Group = {
  title: 'idempotency keys',
  needs: ['coordination'],
  tests: {
    'a finished run suppresses another with its key (X17)': async (bench) => {
      const [one, two] = await twoRunning(bench)
      assert.equal(await claim(bench, 'k', one), 'claimed')
      await bench.settle(bench.done(one, { once: { key: 'k', keepMs: 60_000 } }))
      assert.equal(await claim(bench, 'k', two), 'done')
    },
    'a finished run stores its result with the key while the key is kept': async (bench) => {
      for (const keep of [true, false]) {
        const [one, two] = await twoRunning(bench)
        const key = `k${keep}`
        await bench.settle(bench.done(one, { keep, result: '{"charged":42}', once: { key, keepMs: 60_000 } }))
        const found = await bench.coordination.claimOnce(key, two.envelope.id)
        assert.deepEqual(found, { kind: 'done', result: '{"charged":42}', seal: null })
        await bench.clock.advance(60_000)
        assert.deepEqual(await bench.coordination.claimOnce(key, two.envelope.id), { kind: 'claimed' })
        await bench.settle(bench.done(two, { once: { key, keepMs: 60_000 } }))
        const [three] = await twoRunning(bench)
        assert.deepEqual(await bench.coordination.claimOnce(key, three.envelope.id), { kind: 'done', result: null, seal: null })
      }
    },
    'a key is busy for others while its job runs, and its own job may claim it again': async (bench) => {
      const [one, two] = await twoRunning(bench)
      assert.equal(await claim(bench, 'k', one), 'claimed')
      assert.equal(await claim(bench, 'k', two), 'busy')
      assert.equal(await claim(bench, 'k', one), 'claimed')
      assert.equal(await claim(bench, 'other', two), 'claimed')
    },
    'two simultaneous jobs do not both get the key': async (bench) => {
      const [one, two] = await twoRunning(bench)
      const answers = await Promise.all([claim(bench, 'k', one), claim(bench, 'k', two)])
      assert.deepEqual([...answers].sort(), ['busy', 'claimed'])
    },
    'every other end frees the key': async (bench) => {
      const ends: readonly ((lease: Lease) => Settlement)[] = [
        (lease) => bench.retry(lease, 60_000),
        (lease) => bench.snooze(lease, 60_000),
        (lease) => bench.dead(lease),
        (lease) => bench.cancelled(lease),
        (lease) => bench.skipped(lease),
      ]
      for (const end of ends) {
        const [one, two] = await twoRunning(bench)
        assert.equal(await claim(bench, 'k', one), 'claimed')
        await bench.settle(end(one))
        assert.equal(await claim(bench, 'k', two), 'claimed')
        await bench.settle(bench.done(two))
      }
    },
    'a job that failed may run again under its own key (X17)': async (bench) => {
      await bench.send({})
      const first = await bench.claimOne()
      assert.equal(await claim(bench, 'k', first), 'claimed')
      await bench.settle(bench.retry(first))
      const second = await bench.claimOne()
      assert.equal(await claim(bench, 'k', second), 'claimed')
      await bench.settle(bench.done(second, { once: { key: 'k', keepMs: 1_000 } }))
      await bench.send({})
      assert.equal(await claim(bench, 'k', await bench.claimOne()), 'done')
    },
    'a lost lease frees the key': async (bench) => {
      const [one, two] = await twoRunning(bench, 1_000)
      assert.equal(await claim(bench, 'k', one), 'claimed')
      await bench.backend.extend([two.token], 60_000)
      await bench.clock.advance(1_000)
      await bench.backend.reap(3)
      assert.equal(await claim(bench, 'k', two), 'claimed')
    },
    'a run that finishes without the key stores nothing': async (bench) => {
      const [one, two] = await twoRunning(bench)
      assert.equal(await claim(bench, 'k', one), 'claimed')
      await bench.settle(bench.done(one))
      assert.equal(await claim(bench, 'k', two), 'claimed')
    },
    'a lost settlement stores no key': async (bench) => {
      const [one, two] = await twoRunning(bench, 1_000)
      await bench.backend.extend([two.token], 60_000)
      await bench.clock.advance(1_000)
      await bench.backend.reap(3)
      assert.deepEqual(await bench.backend.settle([bench.done(one, { once: { key: 'k', keepMs: 60_000 } })]), ['lost'])
      assert.equal(await claim(bench, 'k', two), 'claimed')
    },
    'a kept key is free again after its time, to the millisecond': async (bench) => {
      const [one, two] = await twoRunning(bench)
      await bench.settle(bench.done(one, { once: { key: 'k', keepMs: 5_000 } }))
      await bench.clock.advance(4_999)
      assert.equal(await claim(bench, 'k', two), 'done')
      await bench.clock.advance(1)
      assert.equal(await claim(bench, 'k', two), 'claimed')
    },
    'a key is kept whether or not its job is kept': async (bench) => {
      for (const keep of [true, false]) {
        const [one, two] = await twoRunning(bench)
        await bench.settle(bench.done(one, { keep, once: { key: `k${keep}`, keepMs: 5_000 } }))
        assert.equal(await claim(bench, `k${keep}`, two), 'done')
        await bench.settle(bench.done(two))
      }
    },
    'expired keys are swept, at most the requested number, and no others': async (bench) => {
      for (const [key, keepMs] of [
        ['a', 1_000],
        ['b', 2_000],
        ['c', 3_000],
        ['d', 60_000],
      ] as const) {
        await bench.send({})
        await bench.settle(bench.done(await bench.claimOne(), { once: { key, keepMs } }))
      }
      assert.equal((await bench.store.sweep({ part: 'keys', limit: 10 })).changed, 0)
      await bench.clock.advance(3_000)
      assert.equal((await bench.store.sweep({ part: 'keys', limit: 2 })).changed, 2)
      assert.equal((await bench.store.sweep({ part: 'keys', limit: 10 })).changed, 1)
      await bench.send({})
      assert.equal(await claim(bench, 'd', await bench.claimOne()), 'done')
    },
    'keys are compared exactly, long and odd ones too': async (bench) => {
      const long = 'k'.repeat(511)
      const [one, two] = await twoRunning(bench)
      for (const key of [`${long}1`, `${long}2`, oddText, 'KEY']) assert.equal(await claim(bench, key, one), 'claimed')
      assert.equal(await claim(bench, 'key', two), 'claimed')
      await bench.settle(bench.done(one, { once: { key: oddText, keepMs: 5_000 } }))
      assert.equal(await claim(bench, oddText, two), 'done')
      assert.equal(await claim(bench, `${oddText} `, two), 'claimed')
    },
  },
}
