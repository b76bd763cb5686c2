import assert from 'node:assert/strict'
import type { Lease, Settlement } from '../../../queue/contract/contract.ts'
import type { FinalState } from '../../../queue/contract/job-state.ts'
import { cancelOutcome } from '../../../queue/contract/queue-counts.ts'
import type { OccurrenceRecord } from '../../../queue/contract/schedule-store.ts'
import type { Bench } from '../bench.ts'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'
import { minute, occurrence, scheduled } from './schedules.ts'

/** An occurrence that started running a second after it was stored. */
async function running(bench: Bench): Promise<Lease> {
  await scheduled(bench, 0)
  await bench.clock.advance(1_000)
  return bench.claimOne()
}

/** The only occurrence of the schedule. */
async function found(bench: Bench): Promise<OccurrenceRecord> {
  const [standing] = await bench.store.schedules.standings(['digest'])
  assert.ok(standing?.latest)
  return standing.latest
}

async function assertEnded(bench: Bench, outcome: FinalState, startedAt: number | null, finishedAt: number): Promise<void> {
  const { at, ...rest } = await found(bench)
  const { jobId } = rest
  assert.deepEqual(rest, { schedule: 'digest', jobId, outcome, startedAt, finishedAt }, `the occurrence at ${at}`)
}

async function assertUnended(bench: Bench): Promise<void> {
  const { outcome, startedAt, finishedAt } = await found(bench)
  assert.deepEqual([outcome, startedAt, finishedAt], [null, null, null])
}

const endings: Readonly<Record<string, readonly [FinalState, (bench: Bench, lease: Lease, keep: boolean) => Settlement]>> = {
  done: ['succeeded', (bench, lease, keep) => bench.done(lease, { keep })],
  'done with a result': ['succeeded', (bench, lease, keep) => bench.done(lease, { keep, result: '{"sent":3}' })],
  dead: ['dead', (bench, lease, keep) => bench.dead(lease, keep)],
  cancelled: ['cancelled', (bench, lease, keep) => bench.cancelled(lease, keep)],
  skipped: ['skipped', (bench, lease, keep) => bench.skipped(lease, keep)],
}

function bySettlement(): Group['tests'] {
  const tests = Object.entries(endings).flatMap(([kind, [outcome, settlement]]) =>
    [true, false].map((keep) => {
      const title = `an occurrence knows that its job was settled as ${kind}, and ${keep ? 'kept' : 'deleted at once'}`
      const test = async (bench: Bench) => {
        const lease = await running(bench)
        const startedAt = bench.clock.now()
        await bench.clock.advance(2_000)
        await bench.settle(settlement(bench, lease, keep))
        await assertEnded(bench, outcome, startedAt, startedAt + 2_000)
        assert.equal((await bench.store.get(lease.envelope.id))?.state, keep ? outcome : undefined)
        assert.deepEqual(await bench.store.schedules.neighbours({ schedule: 'digest', at: Number.MAX_SAFE_INTEGER }), {
          unended: null,
          seen: false,
        })
      }
      return [title, test] as const
    }),
  )
  return Object.fromEntries(tests)
}

export const outcomes: Group = {
  title: 'outcomes of occurrences',
  needs: ['store'],
  tests: {
    ...bySettlement(),
    'occurrences and other jobs that end together each have their own outcome': async (bench) => {
      const now = bench.clock.now()
      const all = times(20, (index) => occurrence(bench, now - index * minute))
      await bench.store.schedules.enqueue(all)
      await bench.send(...times(20, () => ({})))
      const leases = await bench.claim()
      const dead = new Set(all.slice(0, 5).map(({ envelope }) => envelope.id))
      await bench.settle(
        ...leases.map((lease) => (dead.has(lease.envelope.id) ? bench.dead(lease) : bench.done(lease, { keep: true }))),
      )
      const records = await bench.store.schedules.occurrences({ keys: all })
      assert.deepEqual(
        records.map((record) => [record?.jobId, record?.outcome]),
        all.map(({ envelope }) => [envelope.id, dead.has(envelope.id) ? 'dead' : 'succeeded']),
      )
    },
    'an occurrence is unended while its job waits, runs and is tried again': async (bench) => {
      await scheduled(bench, 1)
      await assertUnended(bench)
      await bench.clock.advance(minute)
      const first = await bench.claimOne()
      await assertUnended(bench)
      await bench.settle(bench.retry(first, 1_000))
      await assertUnended(bench)
      await bench.clock.advance(1_000)
      await bench.settle(bench.snooze(await bench.claimOne()))
      await assertUnended(bench)
    },
    'an occurrence started when its last attempt did': async (bench) => {
      await bench.settle(bench.retry(await running(bench), 1_000))
      await bench.clock.advance(5_000)
      const startedAt = bench.clock.now()
      const lease = await bench.claimOne()
      await bench.clock.advance(1_000)
      await bench.settle(bench.done(lease))
      await assertEnded(bench, 'succeeded', startedAt, startedAt + 1_000)
    },
    'a lost settlement does not change the occurrence': async (bench) => {
      const lease = await running(bench)
      await bench.clock.advance(60_000)
      await bench.backend.reap(3)
      const late = [bench.done(lease), bench.done(lease, { keep: true }), bench.dead(lease)]
      assert.deepEqual(await bench.backend.settle(late), ['lost', 'lost', 'lost'])
      await assertUnended(bench)
    },
    'an occurrence that is cancelled while it waits never started': async (bench) => {
      const [waiting] = await scheduled(bench, 1)
      assert.ok(waiting)
      await bench.clock.advance(1_000)
      assert.equal(cancelOutcome(await bench.store.cancel(waiting.envelope.id)), 'cancelled')
      await assertEnded(bench, 'cancelled', null, bench.clock.now())
    },
    'an occurrence that was asked to stop ends when its run ends': async (bench) => {
      const lease = await running(bench)
      const startedAt = bench.clock.now()
      assert.equal(cancelOutcome(await bench.store.cancel(lease.envelope.id)), 'requested')
      await assertUnended(bench)
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.backend.settle([bench.retry(lease, 1_000)]), ['cancelled'])
      await assertEnded(bench, 'cancelled', startedAt, startedAt + 1_000)
    },
    'an occurrence whose worker dies after it was asked to stop is cancelled': async (bench) => {
      const lease = await running(bench)
      const startedAt = bench.clock.now()
      await bench.store.cancel(lease.envelope.id)
      await bench.clock.advance(60_000)
      await bench.backend.reap(3)
      await assertEnded(bench, 'cancelled', startedAt, bench.clock.now())
    },
    'an occurrence whose workers keep dying is dead, and every claim has a lease (X35)': async (bench) => {
      await running(bench)
      const startedAt = bench.clock.now()
      await bench.clock.advance(60_000)
      assert.equal((await bench.backend.reap(0)).poisoned, 1)
      await assertEnded(bench, 'dead', startedAt, bench.clock.now())
    },
    'an occurrence that is found poisoned by a claim is dead as well': async (bench) => {
      await running(bench)
      const startedAt = bench.clock.now()
      await bench.clock.advance(60_000)
      await bench.assertNothingClaimable({ maxRescues: 0 })
      await assertEnded(bench, 'dead', startedAt, bench.clock.now())
    },
    'an occurrence that is skipped while it waits never started': async (bench) => {
      await scheduled(bench, 1)
      await bench.clock.advance(minute + 1_000)
      const before = bench.clock.now()
      await bench.store.schedules.skipWaiting({ schedule: 'digest', before, unseenOnly: false, why: 'late' })
      await assertEnded(bench, 'skipped', null, bench.clock.now())
    },
    'an occurrence whose job is retried is unended again, and ends once more': async (bench) => {
      const lease = await running(bench)
      const startedAt = bench.clock.now()
      await bench.settle(bench.dead(lease))
      await assertEnded(bench, 'dead', startedAt, startedAt)
      assert.deepEqual(await bench.store.retry([lease.envelope.id]), ['requeued'])
      await assertUnended(bench)
      await bench.settle(bench.done(await bench.claimOne()))
      await assertEnded(bench, 'succeeded', startedAt, startedAt)
    },
    'a job that cannot be retried leaves its occurrence ended': async (bench) => {
      const { store } = bench
      const each = occurrence(bench, bench.clock.now(), 'digest', { uniqueKey: 'k' })
      await store.schedules.enqueue([each])
      await bench.settle(bench.dead(await bench.claimOne()))
      await bench.send({ uniqueKey: 'k' })
      assert.deepEqual(await store.retry([each.envelope.id]), ['conflict'])
      assert.equal((await store.schedules.occurrences({ keys: [each] }))[0]?.outcome, 'dead')
    },
    'a job that is removed leaves its occurrence with its outcome': async (bench) => {
      const lease = await running(bench)
      const startedAt = bench.clock.now()
      await bench.settle(bench.done(lease, { keep: true }))
      assert.equal(await bench.store.remove({ state: 'succeeded', limit: 10 }), 1)
      await assertEnded(bench, 'succeeded', startedAt, startedAt)
    },
    'runs of one schedule that end at the same time do not lose each other (X33)': async (bench) => {
      const all = times(10, (index) => occurrence(bench, bench.clock.now() - index))
      await bench.store.schedules.enqueue(all)
      const leases = await bench.claim()
      await Promise.all(leases.map((lease) => bench.settle(bench.done(lease))))
      const records = await bench.store.schedules.occurrences({ keys: all })
      assert.deepEqual(new Set(records.map((record) => record?.outcome)), new Set(['succeeded']))
    },
  },
}
