import assert from 'node:assert/strict'
import type { JobState } from '../../../queue/contract/job-state.ts'
import { jobStates } from '../../../queue/contract/job-state.ts'
import { type JobCount, type JobFilter, noCancellation } from '../../../queue/contract/store.ts'
import type { Bench } from '../bench.ts'
import { times, unlimited } from '../bench.ts'
import { oddName } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

async function listedIds(bench: Bench, filter: Omit<JobFilter, 'limit'> & { limit?: number } = {}): Promise<readonly string[]> {
  return (await bench.store.list({ limit: 1_000, ...filter })).map(({ id }) => id)
}

/** No engine can store it: it contains U+0000, or half of a surrogate pair. */
const unstorable = ['\0', 'a\0b', '\ud83d'] as const

export const listing: Group = {
  title: 'lists and counts',
  needs: ['store'],
  tests: {
    'names that no engine can store are not found, and cause no error': async (bench) => {
      const { store } = bench
      const id = await bench.sendOne({ tags: ['a'] })
      for (const name of unstorable) {
        for (const filter of [{ job: name }, { queue: name }, { group: name }, { tag: name }, { root: name }])
          assert.deepEqual(await listedIds(bench, filter), [], JSON.stringify(filter))
        assert.equal(await store.get(name), null)
        assert.deepEqual(await store.cancel(name, { tree: true }), noCancellation)
        assert.deepEqual(await store.retry([name, id]), ['missing', 'active'])
        assert.deepEqual(await store.leases({ owners: [name] }), [])
        assert.deepEqual(await store.links(name), [])
        assert.deepEqual(
          (await store.counts({ root: name })).filter(({ counts }) => counts.ready > 0),
          [],
        )
        await store.setPaused({ queue: name }, false)
        await store.workers.leave(name)
        assert.deepEqual(await bench.backend.reap(1, [name]), { returned: 0, poisoned: 0 })
        const { schedules } = store
        assert.deepEqual(await schedules.list({ names: [name] }), [])
        assert.deepEqual(await schedules.list({ prefix: name }), [])
        assert.deepEqual(await schedules.standings([name]), [])
        assert.equal(await schedules.change(name, 'pause'), false)
        assert.deepEqual(await schedules.occurrences({ keys: [{ schedule: name, at: 0 }] }), [null])
        assert.deepEqual(await schedules.neighbours({ schedule: name, at: 0 }), { unended: null, seen: false })
      }
      assert.deepEqual(await bench.claimedIds(), [id])
    },
    'without a whole number as its limit, a list is refused': async ({ store }) => {
      for (const limit of [undefined, null, '5', 2.5, Number.NaN]) {
        await assert.rejects(async () => store.list({ limit } as never), { code: 'CONFIG_INVALID' }, String(limit))
      }
    },
    'jobs are listed newest first': async (bench) => {
      const [a, b] = await bench.send({ priority: 1 }, { priority: 9 })
      await bench.clock.advance(5)
      const c = await bench.sendOne({ delayMs: 1_000 })
      assert.deepEqual(await listedIds(bench), [c, b, a])
    },
    'pages follow each other without gaps or repetitions': async (bench) => {
      const ids: string[] = []
      for (let batch = 0; batch < 5; batch++) {
        ids.push(...(await bench.send(...times(10, () => ({})))))
        await bench.clock.advance(1)
      }
      const pages: string[] = []
      for (let page = await listedIds(bench, { limit: 7 }); page.length > 0; ) {
        assert.ok(page.length <= 7)
        pages.push(...page)
        page = await listedIds(bench, { limit: 7, before: page.at(-1) as string })
      }
      assert.deepEqual(pages, ids.reverse())
    },
    'a list can be filtered by state, queue and job, and by all of them': async (bench) => {
      const jobs = unlimited('a', 'b')
      const [one, two, three, four] = await bench.send(
        { job: 'a', queue: 'x' },
        { job: 'b', queue: 'x', delayMs: 1_000 },
        { job: 'a', queue: 'y', delayMs: 1_000 },
        { job: 'a', queue: 'x', delayMs: 2_000 },
      )
      await bench.claimOne({ jobs })
      assert.deepEqual(await listedIds(bench, { state: 'running' }), [one])
      assert.deepEqual(await listedIds(bench, { state: 'scheduled' }), [four, three, two])
      assert.deepEqual(await listedIds(bench, { queue: 'x' }), [four, two, one])
      assert.deepEqual(await listedIds(bench, { job: 'b' }), [two])
      assert.deepEqual(await listedIds(bench, { job: 'a', queue: 'x', state: 'scheduled' }), [four])
      assert.deepEqual(await listedIds(bench, { state: 'scheduled', before: four as string, limit: 1 }), [three])
      assert.deepEqual(await listedIds(bench, { queue: 'z' }), [])
    },
    'every state can be listed': async (bench) => {
      for (const end of bench.endings()) {
        await bench.send({})
        await bench.settle(end(await bench.claimOne()))
      }
      for (const state of ['succeeded', 'dead', 'cancelled', 'skipped'] as const) {
        const [record, ...others] = await bench.store.list({ state, limit: 10 })
        assert.deepEqual([record?.state, others.length], [state, 0])
      }
    },
    'a listed record is the same as a single one': async (bench) => {
      await bench.send({ uniqueKey: 'k', meta: { a: 1 } })
      await bench.settle(bench.dead(await bench.claimOne()))
      const [listed] = await bench.store.list({ limit: 1 })
      assert.ok(listed)
      assert.deepEqual(listed, await bench.record(listed.id))
    },
    'counts are zero or absent when nothing is stored': async (bench) => {
      assert.equal(total(await bench.store.counts()), 0)
      await bench.send({})
      await bench.settle(bench.done(await bench.claimOne()))
      assert.equal(total(await bench.store.counts()), 0)
    },
    'counts are grouped by queue and job': async (bench) => {
      await bench.send({ job: 'a', queue: 'x' }, { job: 'a', queue: 'x', priority: 9 }, { job: 'a', queue: 'x', delayMs: 5 })
      await bench.send({ job: oddName, queue: 'x' }, { job: 'a', queue: 'y' })
      await bench.claimOne({ jobs: unlimited(oddName) })
      assert.deepEqual(await nonZeroCounts(bench), {
        [`x ${oddName}`]: { running: 1 },
        'x a': { ready: 2, scheduled: 1 },
        'y a': { ready: 1 },
      })
    },
    'counts report since when the oldest ready job has waited, by queue and job': async (bench) => {
      const start = bench.clock.now()
      await bench.send({ job: 'a', queue: 'x', priority: 9 })
      await bench.clock.advance(1_000)
      await bench.send({ job: 'a', queue: 'x' }, { job: 'a', queue: 'y', group: 'g1' }, { job: 'b', queue: 'x', delayMs: 5_000 })
      await bench.clock.advance(1_000)
      await bench.send({ job: 'a', queue: 'y', group: 'g2' }, { job: 'a', queue: 'y' })
      assert.deepEqual(await oldestReady(bench), { 'x a': start, 'x b': null, 'y a': start + 1_000 })
      assert.equal((await bench.store.counts())[0]?.oldestReadyAt, undefined)
      await bench.claim({ jobs: unlimited('a'), queues: ['x'], limit: 1 })
      assert.deepEqual(await oldestReady(bench), { 'x a': start + 1_000, 'x b': null, 'y a': start + 1_000 })
      await bench.claim({ jobs: unlimited('a'), limit: 10 })
      assert.deepEqual(await oldestReady(bench), { 'x a': null, 'x b': null, 'y a': null })
    },
    'counts equal reality after a mixed program': async (bench) => {
      const jobs = unlimited('a', 'b')
      await bench.send(
        ...times(60, (index) => ({ job: index % 2 ? 'a' : 'b', queue: `q${index % 3}`, delayMs: index % 5 === 0 ? 1_000 : 0 })),
      )
      const ends = [...bench.endings(), bench.retry.bind(bench), bench.snooze.bind(bench)]
      const leases = await bench.claim({ jobs, limit: 28, leaseMs: 500 })
      await bench.settle(...leases.slice(0, 21).map((lease, index) => (ends[index % 7] as (typeof ends)[number])(lease)))
      await bench.clock.advance(500)
      await bench.backend.reap(0)
      await bench.claim({ jobs, limit: 10 })
      const listed = await bench.store.list({ limit: 1_000 })
      for (const { id, state } of listed.filter((_, index) => index % 6 === 0)) {
        if (state === 'scheduled') await bench.store.amend([{ id, runAt: bench.clock.now() }])
        else if (state === 'ready') await bench.store.cancel(id)
        else await bench.store.retry([id])
      }
      await bench.store.remove({ state: 'skipped', limit: 1 })
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
    },
  },
}

function total(counts: readonly JobCount[]): number {
  return counts.flatMap((group) => Object.values(group.counts)).reduce((sum, count) => sum + count, 0)
}

async function oldestReady(bench: Bench): Promise<Record<string, number | null | undefined>> {
  const counts = await bench.store.counts({ oldest: true })
  return Object.fromEntries(counts.map(({ queue, job, oldestReadyAt }) => [`${queue} ${job}`, oldestReadyAt]).toSorted())
}

type Tally = Record<string, Partial<Record<JobState, number>>>

/** The stored counters, without groups and states that are zero. */
export async function nonZeroCounts(bench: Bench): Promise<Tally> {
  const tally: Tally = {}
  for (const { queue, job, counts } of await bench.store.counts()) {
    const states = jobStates.filter((state) => counts[state] !== 0)
    if (states.length > 0) tally[`${queue} ${job}`] = Object.fromEntries(states.map((state) => [state, counts[state]]))
  }
  return tally
}

/** The same numbers, counted job by job. */
export async function reality(bench: Bench): Promise<Tally> {
  const tally: Tally = {}
  for (const { queue, job, state } of await bench.store.list({ limit: 100_000 })) {
    const group = tally[`${queue} ${job}`] ?? {}
    tally[`${queue} ${job}`] = { ...group, [state]: (group[state] ?? 0) + 1 }
  }
  return tally
}
