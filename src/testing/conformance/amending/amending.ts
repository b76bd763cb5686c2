import assert from 'node:assert/strict'
import { sealOf } from '../../../envelope/envelope.ts'
import type { Amendment } from '../../../queue/contract/store.ts'
import type { Bench, Wanted } from '../bench.ts'
import { unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

function amendment(bench: Bench, id: string, wanted: Wanted, was: string | null = null): Amendment {
  const expected = was === null ? null : sealOf(bench.envelope({ id, payload: was }))
  return { id, expected, envelope: bench.envelope({ ...wanted, id }) }
}

export const amending: Group = {
  title: 'amending',
  needs: ['store'],
  tests: {
    'a waiting job gets a new payload, time, queue, priority and identity, and keeps its id, creation time and key': async (
      bench,
    ) => {
      const sent = bench.envelope({ uniqueKey: 'k', uniqueUntil: 'started', delayMs: 60_000 })
      await bench.backend.send([sent])
      await bench.clock.advance(1_000)
      const wanted = { payload: '{"n":2}', queue: 'mail', priority: 9, maxRetries: 7, meta: { a: 1 }, uniqueKey: 'other' }
      const change = amendment(bench, sent.id, wanted)
      const signed = { ...change, envelope: { ...change.envelope, signature: 'k1.c2lnbmVk' } }
      assert.deepEqual(await bench.store.amend([signed]), ['amended'])
      const { envelope } = await bench.claimOne({ queues: ['mail'] })
      const { createdAt, uniqueKey, uniqueUntil } = sent
      assert.deepEqual({ ...envelope }, { ...signed.envelope, createdAt, uniqueKey, uniqueUntil })
      assert.deepEqual(await bench.backend.send([bench.envelope({ uniqueKey: 'other' })]).then(([one]) => one?.stored), true)
    },
    'the state follows the new time': async (bench) => {
      const [due, later] = await bench.send({}, { delayMs: 60_000 })
      const changes = [amendment(bench, due as string, { delayMs: 5_000 }), amendment(bench, later as string, {})]
      assert.deepEqual(await bench.store.amend(changes), ['amended', 'amended'])
      assert.deepEqual(
        [(await bench.record(due as string)).state, (await bench.record(later as string)).state],
        ['scheduled', 'ready'],
      )
      assert.deepEqual(await bench.claimedIds(), [later])
      await bench.clock.advance(5_000)
      assert.deepEqual(await bench.claimedIds(), [due])
    },
    'the counts follow it from queue to queue': async (bench) => {
      const id = await bench.sendOne({ delayMs: 60_000 })
      await bench.store.amend([amendment(bench, id, { queue: 'mail', priority: 1 })])
      const counts = await bench.store.counts()
      const of = (queue: string) => counts.find((count) => count.queue === queue)?.counts
      assert.deepEqual([of('default')?.scheduled ?? 0, of('default')?.ready ?? 0, of('mail')?.ready], [0, 0, 1])
    },
    'a payload that has changed is left alone': async (bench) => {
      const id = await bench.sendOne({ payload: '{"n":1}' })
      const changes = [
        amendment(bench, id, { payload: '{"n":2}' }, '{"n":1}'),
        amendment(bench, id, { payload: '{"n":3}' }, '{"n":1}'),
      ]
      assert.deepEqual(await bench.store.amend(changes), ['amended', 'changed'])
      assert.equal((await bench.record(id)).payload, '{"n":2}')
    },
    'a job whose identity or signature has changed is left alone': async (bench) => {
      const id = await bench.sendOne({ payload: '1' })
      const { envelope } = amendment(bench, id, { payload: '2' })
      const expected = sealOf(bench.envelope({ id, payload: '1' }))
      const others = [
        { ...expected, identity: bench.envelope({ id, maxRetries: 9 }).identity },
        { ...expected, signature: 'k1.c2lnbmVk' },
      ]
      const changes = [...others, expected].map((each) => ({ id, expected: each, envelope }))
      assert.deepEqual(await bench.store.amend(changes), ['changed', 'changed', 'amended'])
      assert.equal((await bench.record(id)).payload, '2')
    },
    'of many simultaneous amendments of the same payload, one succeeds': async (bench) => {
      const id = await bench.sendOne({ payload: '0' })
      const changes = [1, 2, 3, 4, 5].map((n) => bench.store.amend([amendment(bench, id, { payload: String(n) }, '0')]))
      const answers = (await Promise.all(changes)).flat()
      assert.deepEqual([...answers].sort(), ['amended', 'changed', 'changed', 'changed', 'changed'])
    },
    'running, ended and unknown jobs are left alone': async (bench) => {
      const [running, ended] = await bench.send({ priority: 9 }, {})
      const [, second] = await bench.claim()
      assert.ok(second)
      await bench.settle(bench.dead(second))
      const ids = [running, ended, bench.envelope().id] as string[]
      const changes = ids.map((id) => amendment(bench, id, { payload: '"other"' }))
      assert.deepEqual(await bench.store.amend(changes), ['claimed', 'ended', 'missing'])
      assert.notEqual((await bench.record(running as string)).payload, '"other"')
      assert.notEqual((await bench.record(ended as string)).payload, '"other"')
    },
    'a job that waits for another attempt keeps its attempts and errors': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.retry(await bench.claimOne(), 60_000))
      await bench.store.amend([amendment(bench, id, { payload: '"new"' })])
      const lease = await bench.claimOne()
      assert.deepEqual([lease.attempt, lease.envelope.payload], [2, '"new"'])
      assert.equal((await bench.record(id)).errors.length, 1)
    },
    'a job that was moved ends like any other': async (bench) => {
      const id = await bench.sendOne({ job: 'work', delayMs: 60_000 })
      await bench.store.amend([amendment(bench, id, { queue: 'mail', singleInstance: true })])
      const lease = await bench.claimOne({ jobs: unlimited('work') })
      await bench.settle(bench.done(lease, { keep: true, result: '1' }))
      assert.deepEqual([(await bench.record(id)).state, (await bench.record(id)).queue], ['succeeded', 'mail'])
    },
  },
}
