import assert from 'node:assert/strict'
import type { Bench } from '../bench.ts'
import { times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

/** Ends one job per second as dead, and returns their ids. */
async function deadJobs(bench: Bench, wanted: readonly { job?: string; queue?: string }[]): Promise<readonly string[]> {
  const ids: string[] = []
  for (const each of wanted) {
    ids.push(await bench.sendOne(each))
    await bench.settle(bench.dead(await bench.claimOne({ jobs: unlimited('work', 'a', 'b') })))
    await bench.clock.advance(1_000)
  }
  return ids
}

async function kept(bench: Bench, ids: readonly string[]): Promise<readonly boolean[]> {
  return Promise.all(ids.map(async (id) => (await bench.store.get(id)) !== null))
}

export const removing: Group = {
  title: 'removing ended jobs',
  needs: ['store'],
  tests: {
    'only jobs that ended before the given instant are removed': async (bench) => {
      const start = bench.clock.now()
      const ids = await deadJobs(bench, [{}, {}, {}])
      assert.equal(await bench.store.remove({ state: 'dead', finishedBefore: start + 1_000, limit: 100 }), 1)
      assert.deepEqual(await kept(bench, ids), [false, true, true])
      assert.equal(await bench.store.remove({ state: 'dead', finishedBefore: start + 86_400_000, limit: 100 }), 2)
      assert.deepEqual(await kept(bench, ids), [false, false, false])
    },
    'at most the limit is removed, earliest ends first': async (bench) => {
      const ids = await deadJobs(bench, [{}, {}, {}, {}])
      assert.equal(await bench.store.remove({ state: 'dead', limit: 3 }), 3)
      assert.deepEqual(await kept(bench, ids), [false, false, false, true])
      assert.equal(await bench.store.remove({ state: 'dead', limit: 3 }), 1)
      assert.equal(await bench.store.remove({ state: 'dead', limit: 3 }), 0)
    },
    'without a whole number as its limit, nothing is removed': async (bench) => {
      const ids = await deadJobs(bench, [{}])
      for (const limit of [undefined, null, '5', 2.5, Number.NaN]) {
        await assert.rejects(async () => bench.store.remove({ state: 'dead', limit } as never), { code: 'CONFIG_INVALID' })
      }
      assert.deepEqual(await kept(bench, ids), [true])
    },
    'only jobs of the given state are removed': async (bench) => {
      const ids: string[] = []
      for (const end of [bench.endings()[0], ...bench.endings().slice(2)]) {
        ids.push(await bench.sendOne())
        await bench.settle((end as NonNullable<typeof end>)(await bench.claimOne()))
      }
      assert.equal(await bench.store.remove({ state: 'cancelled', limit: 100 }), 1)
      assert.deepEqual(await kept(bench, ids), [true, true, false, true])
    },
    'ids, queue and job narrow what is removed': async (bench) => {
      const ids = await deadJobs(bench, [
        { job: 'a', queue: 'x' },
        { job: 'b', queue: 'x' },
        { job: 'a', queue: 'y' },
        { job: 'a', queue: 'y' },
      ])
      assert.equal(await bench.store.remove({ state: 'dead', job: 'b', queue: 'y', limit: 100 }), 0)
      assert.equal(await bench.store.remove({ state: 'dead', job: 'b', limit: 100 }), 1)
      assert.equal(await bench.store.remove({ state: 'dead', queue: 'x', limit: 100 }), 1)
      assert.equal(await bench.store.remove({ state: 'dead', ids: [ids[3] as string, 'nothing'], limit: 100 }), 1)
      assert.equal(await bench.store.remove({ state: 'dead', ids: [], limit: 100 }), 0)
      assert.deepEqual(await kept(bench, ids), [false, false, true, false])
    },
    'the few jobs of a name among many are removed in the order in which they ended': async (bench) => {
      const [last, first] = await bench.send({ job: 'a', queue: 'x' }, { job: 'a', queue: 'y' })
      await bench.send(...times(60, () => ({ job: 'b' })))
      const leases = await bench.claim({ limit: 100, jobs: unlimited('a', 'b') })
      const ended = (id: string | undefined) =>
        leases.filter((lease) => lease.envelope.id === id).map((lease) => bench.dead(lease))
      await bench.settle(
        ...leases.filter(({ envelope }) => envelope.job === 'b').map((lease) => bench.dead(lease)),
        ...ended(first),
      )
      await bench.clock.advance(1_000)
      await bench.settle(...ended(last))
      const remove = (limit: number, finishedBefore = bench.clock.now() + 1) =>
        bench.store.remove({ state: 'dead', job: 'a', finishedBefore, limit })
      assert.equal(await remove(9, bench.clock.now() - 1_000), 0)
      assert.equal(await remove(1), 1)
      assert.deepEqual(await kept(bench, [last, first] as string[]), [true, false])
      assert.equal(await remove(9, bench.clock.now()), 0)
      assert.equal(await remove(9), 1)
      assert.equal(await remove(9), 0)
      assert.equal((await bench.store.counts({ isSum: true }))[0]?.counts.dead, 60)
    },
    'jobs can be excluded from a removal by name': async (bench) => {
      const ids = await deadJobs(bench, [{ job: 'a' }, {}, { job: 'a' }])
      assert.equal(await bench.store.remove({ state: 'dead', exceptJobs: ['a', 'unknown'], limit: 100 }), 1)
      assert.deepEqual(await kept(bench, ids), [true, false, true])
    },
    'work that has not ended is never removed (X27)': async (bench) => {
      const [running, ready, scheduled] = await bench.send({}, {}, { delayMs: 1_000 })
      await bench.claim({ limit: 1, leaseMs: 1 })
      await bench.clock.advance(500)
      for (const state of ['succeeded', 'dead', 'cancelled', 'skipped'] as const) {
        assert.equal(await bench.store.remove({ state, limit: 100 }), 0)
        assert.equal(await bench.store.remove({ state, ids: [running, ready, scheduled] as string[], limit: 100 }), 0)
      }
      await bench.clock.advance(500)
      assert.equal((await bench.claim()).length, 3)
    },
    'a removed job is neither counted nor listed': async (bench) => {
      await deadJobs(bench, [{}, {}])
      await bench.store.remove({ state: 'dead', limit: 1 })
      const counts = await bench.store.counts()
      assert.equal(
        counts.reduce((sum, group) => sum + group.counts.dead, 0),
        1,
      )
      assert.equal((await bench.store.list({ limit: 10 })).length, 1)
    },
  },
}
