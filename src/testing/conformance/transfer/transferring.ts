import assert from 'node:assert/strict'
import { digest } from '../../../core/text/digest.ts'
import { treeCounts } from '../../../queue/contract/queue-counts.ts'
import { type Bench, byGroup, times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'
import { childOf, sendWaiting, waitsFor } from '../workflows/links.ts'
import { copyFacts, elsewhere, handOver, pack, seen, transferOf } from './handing-over.ts'

const needs = ['store', 'coordination', 'transfer'] as const

/** Moves a queue there and back: the engine exports what it imported, and imports what it exported. */
async function thereAndBack(bench: Bench): Promise<void> {
  const before = await seen(bench)
  const other = elsewhere(bench)
  assert.deepEqual(await handOver(bench, other), [])
  assert.deepEqual(await bench.store.list({ limit: 10 }), [], 'nothing should be left')
  assert.deepEqual(await seen(other), before)
  assert.deepEqual(await handOver(other, bench), [])
  assert.deepEqual(await seen(bench), before)
}

export const transferring: Group = {
  title: 'handing jobs over to another queue',
  needs,
  tests: {
    'a queue has its own name and keeps it': async (bench) => {
      const name = await transferOf(bench.backend).identity()
      assert.equal(await transferOf(bench.backend).identity(), name)
      assert.notEqual(await transferOf(elsewhere(bench).backend).identity(), name)
    },
    'waiting, delayed and ended jobs arrive unchanged': async (bench) => {
      await bench.send({ payload: '{"ü":"𝄞 \\u0000"}', meta: { a: 1 } }, { delayMs: 60_000, priority: 9 }, { group: 'g' })
      await bench.send({ job: 'dying' }, { job: 'ending' }, { job: 'retrying', number: 7 })
      for (const lease of await bench.claim({ jobs: unlimited('dying', 'ending', 'retrying') })) {
        const { job } = lease.envelope
        await bench.settle(
          job === 'dying'
            ? bench.dead(lease)
            : job === 'ending'
              ? bench.done(lease, { keep: true, result: '[1]', seal: 'sealed' })
              : bench.retry(lease, 5_000),
        )
      }
      await bench.store.cancel(await bench.sendOne({ delayMs: 1 }))
      await thereAndBack(bench)
    },
    'arrived jobs are claimed in order, with their attempts': async (bench) => {
      const other = elsewhere(bench)
      await other.send({ priority: 1 }, { priority: 9 }, { group: 'a', job: 'grouped' })
      const [first] = await other.claim({ limit: 1 })
      assert.ok(first)
      await other.settle(other.retry(first))
      await handOver(other, bench)
      const leases = await bench.claim()
      assert.deepEqual(
        leases.map(({ envelope, attempt }) => [envelope.priority, attempt]),
        [
          [9, 2],
          [1, 1],
        ],
      )
      assert.equal((await bench.claim({ jobs: byGroup({}, 'grouped') })).length, 1)
    },
    'counts follow jobs that leave and arrive': async (bench) => {
      await bench.send({}, {}, { delayMs: 1_000 })
      const before = await bench.store.counts()
      const other = elsewhere(bench)
      await handOver(bench, other)
      assert.deepEqual(
        (await bench.store.counts()).filter(({ counts }) => Object.values(counts).some((count) => count !== 0)),
        [],
      )
      await handOver(other, bench)
      assert.deepEqual(
        (await bench.store.counts()).map(({ counts }) => counts),
        before.map(({ counts }) => counts),
      )
    },
    'jobs in a parcel are neither claimed nor listed, and refused ones return unchanged': async (bench) => {
      const ids = await bench.send({ uniqueKey: 'k' }, { delayMs: 500 }, { group: 'g' })
      const before = await seen(bench)
      const other = elsewhere(bench)
      const { parcel } = await pack(bench, other)
      assert.ok(parcel)
      assert.deepEqual(await transferOf(bench.backend).parcels(), [{ id: parcel.id, target: parcel.target }])
      assert.deepEqual(await transferOf(bench.backend).parcel(parcel.id), parcel)
      assert.deepEqual(await bench.store.list({ limit: 9 }), [])
      await bench.assertNothingClaimable()
      const [receipt] = await bench.backend.send([bench.envelope({ uniqueKey: 'k' })])
      assert.deepEqual(receipt, { id: ids[0], stored: false })
      await transferOf(bench.backend).close(parcel.id, ids)
      assert.deepEqual(await seen(bench), before)
      assert.deepEqual(await transferOf(bench.backend).parcels(), [])
      assert.equal((await bench.claim({ jobs: byGroup() })).length, 2)
    },
    'a job that was sent again while it was in a parcel stays as it was sent when the parcel comes back': async (bench) => {
      const id = await bench.sendOne()
      const { parcel } = await pack(bench, elsewhere(bench))
      assert.ok(parcel)
      await bench.backend.send([bench.envelope({ id, payload: '"again"' })])
      await transferOf(bench.backend).close(parcel.id, [id])
      const [lease, ...others] = await bench.claim()
      assert.deepEqual([lease?.envelope.id, lease?.envelope.payload, others], [id, '"again"', []])
      await bench.assertNothingClaimable()
    },
    'a parcel is closed once': async (bench) => {
      const id = await bench.sendOne()
      const { parcel } = await pack(bench, elsewhere(bench))
      assert.ok(parcel)
      await transferOf(bench.backend).close(parcel.id, [id])
      await transferOf(bench.backend).close(parcel.id, [id])
      assert.equal(await transferOf(bench.backend).parcel(parcel.id), null)
      assert.deepEqual(await bench.claimedIds(), [id])
    },
    'a parcel that is delivered twice is unpacked once, even if its jobs have ended and are gone': async (bench) => {
      const other = elsewhere(bench)
      await other.send({}, {})
      const { parcel } = await pack(other, bench)
      assert.ok(parcel)
      assert.deepEqual(await transferOf(bench.backend).unpack(parcel), [])
      for (const lease of await bench.claim()) await bench.settle(bench.done(lease))
      assert.deepEqual(await transferOf(bench.backend).unpack(parcel), [])
      await bench.assertNothingClaimable()
    },
    'a parcel that is unpacked twice at the same time is stored once': async (bench) => {
      const other = elsewhere(bench)
      await other.send({}, {})
      const { parcel } = await pack(other, bench)
      assert.ok(parcel)
      await Promise.all(times(4, () => transferOf(bench.backend).unpack(parcel)))
      assert.equal((await bench.claim()).length, 2)
    },
    'running jobs stay until they return': async (bench) => {
      await bench.send({}, {})
      const [running] = await bench.claim({ limit: 1 })
      assert.ok(running)
      const other = elsewhere(bench)
      await handOver(bench, other)
      assert.equal((await other.store.list({ limit: 9 })).length, 1)
      await bench.settle(bench.retry(running))
      await handOver(bench, other)
      const record = await other.record(running.envelope.id)
      assert.deepEqual([record.attempts, record.errors.length, record.state], [1, 1, 'ready'])
    },
    'many jobs leave in pages, and later ones stay': async (bench) => {
      await bench.send(...times(25, (index) => ({ payload: `${index}` })))
      const other = elsewhere(bench)
      await handOver(bench, other, 10)
      assert.equal((await other.store.list({ limit: 100 })).length, 25)
      const createdBefore = bench.clock.now()
      await bench.clock.advance(1)
      await bench.send({}, { createdAt: createdBefore })
      const target = await transferOf(other.backend).identity()
      const request = { target, queue: null, createdBefore, limit: 10 }
      const first = await transferOf(bench.backend).pack({ ...request, after: null })
      const second = await transferOf(bench.backend).pack({ ...request, after: first.after })
      assert.equal(second.parcel?.units.length, 1)
    },
    'only jobs of the named queue leave': async (bench) => {
      await bench.send({ queue: 'a' }, { queue: 'b' })
      await bench.store.setPaused({ queue: 'b' }, true)
      const other = elsewhere(bench)
      const target = await transferOf(other.backend).identity()
      let after: string | null = null
      do {
        const request = { target, queue: 'a', createdBefore: Number.MAX_SAFE_INTEGER, limit: 10, after }
        const packed = await transferOf(bench.backend).pack(request)
        after = packed.after
        if (packed.parcel !== null) await transferOf(other.backend).unpack(packed.parcel)
      } while (after !== null)
      assert.deepEqual(
        (await other.store.list({ limit: 9 })).map(({ queue }) => queue),
        ['a'],
      )
      assert.deepEqual((await other.store.paused()).queues, [])
      assert.equal((await bench.store.list({ limit: 9 })).length, 1)
    },
    'reading takes nothing': async (bench) => {
      await bench.send({}, { delayMs: 500 })
      const before = await seen(bench)
      const request = { queue: null, createdBefore: Number.MAX_SAFE_INTEGER, limit: 10 }
      const first = await transferOf(bench.backend).read({ ...request, after: null })
      const page = await transferOf(bench.backend).read({ ...request, after: first.after })
      assert.equal(page.units.length, 2)
      assert.deepEqual(await seen(bench), before)
      assert.equal((await bench.claim()).length, 1)
    },
    'a job whose id, number or unique key is taken is refused, and the others are stored': async (bench) => {
      const other = elsewhere(bench)
      const [same, , keyed] = await other.send({ payload: '1' }, { number: 4 }, { uniqueKey: 'k' }, { payload: '4' })
      await bench.backend.send([bench.envelope({ id: same as string })])
      await bench.send({ number: 4 }, { uniqueKey: 'k' })
      const refused = await handOver(other, bench)
      assert.equal(refused.length, 3)
      assert.ok(refused.some(({ id, why }) => id === keyed && why.includes('unique key "k"')))
      assert.equal((await other.store.list({ limit: 9 })).length, 3)
      assert.equal((await bench.store.list({ limit: 9 })).length, 4)
    },
  },
}

export const transferringWorkflows: Group = {
  title: 'handing workflows over to another queue',
  needs,
  tests: {
    'a workflow leaves as a whole, and continues where it arrives': async (bench) => {
      const first = await bench.sendOne({ payload: '"first"' })
      const second = await sendWaiting(bench, [first])
      await sendWaiting(bench, [first, second], 'continue')
      await thereAndBack(bench)
      const other = elsewhere(bench)
      await handOver(bench, other)
      for (const id of [first, second]) {
        const lease = await other.claimOne()
        assert.equal(lease.envelope.id, id)
        await other.settle(other.done(lease, { keep: true, result: '1' }))
      }
      assert.equal((await other.claim()).length, 1)
    },
    'a workflow stays while one of its jobs runs': async (bench) => {
      const first = await bench.sendOne()
      await sendWaiting(bench, [first])
      const lease = await bench.claimOne()
      const other = elsewhere(bench)
      await handOver(bench, other)
      assert.deepEqual(await other.store.list({ limit: 9 }), [])
      await bench.settle(bench.done(lease, { keep: true }))
      await handOver(bench, other)
      assert.equal((await other.store.list({ limit: 9 })).length, 2)
      assert.equal((await other.claim()).length, 1)
    },
    'a parent that waits for its children ends where they end': async (bench) => {
      await bench.send({ job: 'parent' })
      const parent = await bench.claimOne({ jobs: unlimited('parent') })
      await bench.coordination.claimOnce('once', parent.envelope.id)
      await bench.send({ links: childOf(parent, 'one') }, { links: childOf(parent, 'two', 'ignore') })
      const once = { key: 'once', keepMs: 60_000 }
      assert.deepEqual(await bench.backend.settle([bench.done(parent, { keep: true, result: '7', once })]), ['blocked'])
      await thereAndBack(bench)
      assert.equal((await bench.coordination.claimOnce('once', bench.newId())).kind, 'busy')
      const [one, two] = await bench.claim()
      assert.ok(one && two)
      await bench.settle(bench.done(one), bench.dead(two))
      const ended = await bench.record(parent.envelope.id)
      assert.deepEqual([ended.state, ended.result], ['succeeded', '7'])
      assert.equal((await bench.coordination.claimOnce('once', bench.newId())).kind, 'done')
    },
    'how many jobs of it have ended is known where it arrives': async (bench) => {
      const root = bench.newId()
      const first = await bench.sendOne({ links: { ...waitsFor([]), root } })
      await bench.sendOne({ links: { ...waitsFor([first]), root } })
      await bench.settle(bench.done(await bench.claimOne()))
      const before = await treeCounts(bench.store, root)
      assert.equal(before.total, 2)
      const other = elsewhere(bench)
      await handOver(bench, other)
      assert.deepEqual(await treeCounts(other.store, root), before)
      await handOver(other, bench)
      assert.deepEqual(await treeCounts(bench.store, root), before)
    },
  },
}

export const transferringKeys: Group = {
  title: 'handing keys over to another queue',
  needs,
  tests: {
    'keys that outlive their jobs are held on both sides': async (bench) => {
      await bench.send({ uniqueKey: 'ever', uniqueUntil: 'ever' }, { uniqueKey: 'while', uniqueUntil: bench.clock.now() + 5_000 })
      const lease = (await bench.claim())[0]
      assert.ok(lease)
      await bench.settle(bench.done(lease))
      const other = elsewhere(bench)
      await copyFacts(bench, other)
      await copyFacts(bench, other)
      await bench.clock.advance(40_000)
      await bench.backend.reap(3)
      await handOver(bench, other)
      for (const each of [bench, other]) {
        const [ever] = await each.backend.send([each.envelope({ uniqueKey: 'ever' })])
        assert.equal(ever?.stored, false)
        const [later] = await each.backend.send([each.envelope({ uniqueKey: 'while' })])
        assert.equal(later?.stored, true)
      }
    },
    'a finished run suppresses another with its key on both sides, with its result': async (bench) => {
      for (const [from, to] of [
        [bench, elsewhere(bench)],
        [elsewhere(bench), bench],
      ] as const) {
        await from.send({})
        const lease = await from.claimOne()
        const once = { key: 'paid', keepMs: 60_000, seal: 's' }
        await from.settle(from.done(lease, { result: '{"n":1}', once }))
        await copyFacts(from, to)
        for (const each of [from, to]) {
          assert.deepEqual(await each.coordination.claimOnce('paid', each.newId()), {
            kind: 'done',
            result: '{"n":1}',
            seal: 's',
          })
        }
        await bench.clock.advance(60_000)
        assert.equal((await to.coordination.claimOnce('paid', to.newId())).kind, 'claimed')
      }
    },
    'of two facts about one key in one call, the one that is kept for longer counts': async (bench) => {
      const now = bench.clock.now()
      const fact = { kind: 'once', key: digest('paid'), seal: null } as const
      const facts = [
        { ...fact, until: now + 5_000, result: '1' },
        { ...fact, until: now + 60_000, result: '2' },
        { ...fact, until: now + 9_000, result: '3' },
      ]
      await transferOf(bench.backend).learn(facts)
      await bench.clock.advance(10_000)
      assert.deepEqual(await bench.coordination.claimOnce('paid', bench.newId()), { kind: 'done', result: '2', seal: null })
    },
    'numbers continue from the higher one': async (bench) => {
      const other = elsewhere(bench)
      await other.numbers.reserve(41)
      await copyFacts(other, bench)
      assert.equal(await bench.numbers.reserve(1), 42)
      await copyFacts(bench, other)
      assert.equal(await other.numbers.reserve(1), 43)
    },
    'paused queues arrive paused, once': async (bench) => {
      await bench.store.setPaused({ queue: 'default' }, true)
      await bench.send({})
      const other = elsewhere(bench)
      await handOver(bench, other)
      assert.deepEqual((await other.store.paused()).queues, ['default'])
      await other.store.setPaused({ queue: 'default' }, false)
      await handOver(bench, other)
      assert.deepEqual((await other.store.paused()).queues, [])
    },
  },
}
