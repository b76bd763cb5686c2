import assert from 'node:assert/strict'
import { byGroup, limited, times, unlimited } from '../bench.ts'
import { nonZeroCounts, reality } from '../managing/listing.ts'
import { minute, occurrence } from '../schedules/schedules.ts'
import type { Group } from '../suite.ts'
import { assertStates, childOf, claimJob, die, runningParent, succeed, waitsFor } from '../workflows/links.ts'

export const again: Group = {
  title: 'repeating a job',
  needs: [],
  tests: {
    'a repeated job is ready at its time, with all its attempts': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.retry(await bench.claimOne()))
      const lease = await bench.claimOne()
      assert.equal(lease.attempt, 2)
      await bench.settle(bench.again(lease, { delayMs: 2_500 }))
      await bench.clock.advance(2_499)
      await bench.assertNothingClaimable()
      await bench.clock.advance(1)
      const next = await bench.claimOne()
      assert.deepEqual([next.envelope.id, next.attempt], [id, 1])
    },
    'it has its new envelope, and keeps its creation time and its key': async (bench) => {
      const sent = bench.envelope({ uniqueKey: 'k', uniqueUntil: 'ended' })
      await bench.backend.send([sent])
      const lease = await bench.claimOne()
      await bench.clock.advance(1_000)
      const wanted = {
        job: 'other',
        name: 'Other',
        payload: '{"n":2}',
        queue: 'mail',
        priority: 9,
        meta: { a: 1 },
        uniqueKey: 'x',
      }
      const settlement = bench.again(lease, { ...wanted, maxRetries: 7 })
      assert.ok(settlement.kind === 'again')
      const signed = { ...settlement, envelope: { ...settlement.envelope, signature: 'k1.c2lnbmVk' } }
      await bench.settle(signed)
      await bench.assertNothingClaimable({ jobs: unlimited('work') })
      const { envelope } = await bench.claimOne({ jobs: unlimited('other'), queues: ['mail'] })
      const { createdAt, uniqueKey, uniqueUntil } = sent
      assert.deepEqual({ ...envelope }, { ...signed.envelope, createdAt, uniqueKey, uniqueUntil })
    },
    'it holds its unique key as before, even under another name': async (bench) => {
      const [ended, started] = await bench.send(
        { uniqueKey: 'ended', uniqueUntil: 'ended' },
        { uniqueKey: 'started', uniqueUntil: 'started' },
      )
      const leases = await bench.claim()
      await bench.settle(...leases.map((lease) => bench.again(lease, { job: 'other', delayMs: 1_000 })))
      const receipts = await bench.backend.send([
        bench.envelope({ uniqueKey: 'ended' }),
        bench.envelope({ uniqueKey: 'started' }),
        bench.envelope({ uniqueKey: 'ended', job: 'other' }),
      ])
      assert.deepEqual([receipts[0]?.id, receipts[1]?.stored, receipts[2]?.stored], [ended, true, true])
      assert.notEqual(started, undefined)
    },
    'a lost lease repeats nothing': async (bench) => {
      await bench.sendOne()
      const lease = await bench.claimOne()
      await bench.settle(bench.done(lease))
      assert.deepEqual(await bench.backend.settle([bench.again(lease)]), ['lost'])
      await bench.assertNothingClaimable()
    },
    'jobs that are repeated in one batch each get their own place': async (bench) => {
      await bench.send(...times(20, () => ({})))
      const leases = await bench.claim()
      const settlements = leases.map((lease, index) =>
        index % 4 === 0 ? bench.done(lease) : bench.again(lease, { priority: index % 4, queue: `q${index % 2}` }),
      )
      await bench.settle(...settlements)
      const back = await bench.claim()
      assert.deepEqual(
        back.map(({ envelope, attempt }) => [envelope.priority, envelope.queue, attempt]),
        [3, 2, 1].flatMap((priority) => times(5, () => [priority, `q${priority % 2}`, 1])),
      )
    },
    'it makes room for others of its key, its queue and its group': async (bench) => {
      await bench.send({ group: 'a' }, { group: 'a' })
      const one = byGroup({ concurrency: 1 })
      const lease = await bench.claimOne({ jobs: one })
      await bench.assertNothingClaimable({ jobs: one })
      await bench.settle(bench.again(lease, { group: 'b', job: 'other' }))
      assert.equal((await bench.claimOne({ jobs: one })).envelope.group, 'a')
      const other = await bench.claimOne({ jobs: byGroup({ concurrency: 1 }, 'other') })
      assert.equal(other.envelope.group, 'b')
      await bench.send({ job: 'other', group: 'b' })
      await bench.assertNothingClaimable({ jobs: byGroup({ concurrency: 1 }, 'other') })
      await bench.settle(bench.again(other, { job: 'other' }))
      assert.equal((await bench.claim({ jobs: limited('other', 1) })).length, 1)
    },
  },
}

export const againRecorded: Group = {
  title: 'records of repeated jobs',
  needs: ['store'],
  tests: {
    'its errors, last start and number stay, and its progress does not': async (bench) => {
      const number = await bench.numbers.reserve(1)
      const id = await bench.sendOne({ number })
      await bench.settle(bench.retry(await bench.claimOne()))
      await bench.clock.advance(500)
      const startedAt = bench.clock.now()
      const lease = await bench.claimOne()
      await bench.store.report([{ token: lease.token, progress: '0.5' }])
      await bench.clock.advance(500)
      await bench.settle(bench.again(lease, { delayMs: 1_000, job: 'other', queue: 'mail' }))
      const { state, errors, progress, attempts, rescues, result, finishedAt, leaseExpiresAt, ...record } = await bench.record(id)
      assert.deepEqual([state, errors.length, progress, attempts, rescues, result], ['scheduled', 1, null, 0, 0, null])
      assert.deepEqual([finishedAt, leaseExpiresAt, record.startedAt], [null, null, startedAt])
      assert.deepEqual([record.number, record.job, record.queue, record.name], [number, 'other', 'mail', 'other'])
      assert.equal(record.runAt, bench.clock.now() + 1_000)
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
    },
    'it has all its rescues again, and may start again': async (bench) => {
      const id = await bench.sendOne()
      await bench.claimOne({ leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      const lease = await bench.claimOne()
      await bench.backend.begin([lease.token])
      await bench.settle(bench.again(lease))
      assert.equal((await bench.record(id)).rescues, 0)
      await bench.claimOne({ leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.reap(3), { returned: 1, poisoned: 0 })
    },
    'a job that was asked to stop is cancelled instead, unchanged': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      await bench.store.cancel(id)
      assert.deepEqual(await bench.backend.settle([bench.again(lease, { job: 'other', payload: '2' })]), ['cancelled'])
      const { state, job, payload } = await bench.record(id)
      assert.deepEqual([state, job, payload], ['cancelled', 'work', '{"n":1}'])
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
    },
    'its parent and its dependents keep waiting': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const child = children[0] as string
      const after = await bench.sendOne({ links: waitsFor([child]) })
      await bench.backend.settle([bench.done(parent, { keep: true })])
      await bench.settle(bench.again(await claimJob(bench, child), { delayMs: 1_000 }))
      await assertStates(bench, { [child]: 'scheduled', [after]: 'blocked', [parent.envelope.id]: 'blocked' })
      assert.deepEqual(
        [(await bench.record(child)).parent, (await bench.record(child)).root],
        [parent.envelope.id, parent.envelope.id],
      )
      await bench.clock.advance(1_000)
      await succeed(bench, child)
      await assertStates(bench, { [after]: 'ready', [parent.envelope.id]: 'succeeded' })
    },
    'its children do not matter until it succeeds': async (bench) => {
      const { parent, children } = await runningParent(bench, ['good', 'bad'])
      const id = parent.envelope.id
      await bench.settle(bench.again(parent, { job: 'parent' }))
      await assertStates(bench, { [id]: 'ready' })
      await succeed(bench, children[0] as string)
      await assertStates(bench, { [id]: 'ready' })
      const next = await claimJob(bench, id)
      assert.deepEqual(await bench.backend.send([bench.envelope({ links: childOf(next, 'good') })]), [
        { id: children[0], stored: false },
      ])
      assert.deepEqual(await bench.backend.settle([bench.done(next, { keep: true })]), ['blocked'])
      await die(bench, children[1] as string)
      await assertStates(bench, { [id]: 'dead' })
    },
    'a repeated occurrence has not ended': async (bench) => {
      const each = occurrence(bench, bench.clock.now() - minute)
      await bench.store.schedules.enqueue([each])
      await bench.settle(bench.again(await bench.claimOne(), { delayMs: 1_000, queue: 'mail' }))
      assert.equal((await bench.store.schedules.occurrences({ keys: [each] }))[0]?.outcome, null)
      await bench.clock.advance(1_000)
      await bench.settle(bench.done(await bench.claimOne()))
      assert.equal((await bench.store.schedules.occurrences({ keys: [each] }))[0]?.outcome, 'succeeded')
    },
    'the idempotency key of its run is free': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      const { coordination } = bench.backend
      if (coordination === undefined) return
      assert.deepEqual(await coordination.claimOnce('key', id), { kind: 'claimed' })
      await bench.settle(bench.again(lease))
      const other = await bench.sendOne({ priority: 9 })
      await bench.claim({ limit: 1 })
      assert.deepEqual(await coordination.claimOnce('key', other), { kind: 'claimed' })
    },
  },
}
