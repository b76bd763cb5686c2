import { expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../src/index.ts'
import type { JobStore } from '../../src/queue/contract/store.ts'
import { everything, Grant } from '../../src/server/access/grant.ts'
import { DeadGroups } from '../../src/server/dashboard/views/dead/dead-groups.ts'
import { readDeadSample } from '../../src/server/dashboard/views/dead/dead-sample.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'

/** A queue in which these jobs have failed, and what was listed from it since. */
async function failed(amounts: Readonly<Record<string, number>>) {
  const jobs = treadle('memory:', { logger: { debug() {}, info() {}, warn() {}, error() {} } })
  onTestFinished(() => jobs.close())
  for (const [name, amount] of Object.entries(amounts)) {
    const job = jobs.define(name, async (n: number) => {
      throw new Error(name.startsWith('odd') && n % 4 === 0 ? `No card ${n}` : `${name} refused ${n}`)
    })
    await jobs.dispatchMany(
      job,
      Array.from({ length: amount }, (_, n) => n),
    )
  }
  await jobs.run({ concurrency: 100 })
  const store = await jobs.store()
  const limits: number[] = []
  const listed: JobStore = new Proxy(store, {
    get: (target, name) => {
      if (name !== 'list') return Reflect.get(target, name, target)
      return async (filter: Parameters<JobStore['list']>[0]) => {
        limits.push(filter.limit)
        return target.list(filter)
      }
    },
  })
  return { store: listed, limits, counts: () => store.counts() }
}

const viewer = { user: null, grant: everything, canLogOut: false }

test('few dead jobs are all read, and counted exactly', async () => {
  const { store, counts } = await failed({ charge: 20, odd: 240 })
  const groups = new DeadGroups({ store, clock: new ManualClock(), snapshots: { counts } })
  const view = await groups.view(viewer)
  expect(view).toMatchObject({ total: 260, read: 260, isWhole: true })
  const told = view.groups.map(({ normal, jobs, isEstimate }) => [normal, jobs, isEstimate])
  expect(told.toSorted()).toEqual([
    ['No card ‹n›', 60, false],
    ['charge refused ‹n›', 20, false],
    ['odd refused ‹n›', 180, false],
  ])
})

test('of very many, each frequent name is shown, with an estimate that adds up, and no more is read than of a few', async () => {
  const { store, limits, counts } = await failed({ odd: 600, charge: 400, rare: 3 })
  const view = await new DeadGroups({ store, clock: new ManualClock(), snapshots: { counts } }).view(viewer)
  expect(view).toMatchObject({ total: 1_003, isWhole: false })
  expect(view.read).toBeLessThan(200)
  expect(limits.reduce((sum, limit) => sum + limit, 0)).toBeLessThan(300)
  expect(new Set(view.groups.map(({ job }) => job))).toEqual(new Set(['odd', 'charge', 'rare']))
  expect(view.groups.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(1_003)
  expect(view.groups.find(({ job }) => job === 'charge')).toMatchObject({ jobs: 400, isEstimate: true, days: null })
  expect(view.groups.find(({ job }) => job === 'rare')).toMatchObject({ jobs: 3, isEstimate: false })
})

test('of jobs with very large payloads, few are read', async () => {
  const { store, counts } = await failed({ charge: 400 })
  const large = new Proxy(store, {
    get: (target, name) =>
      name === 'list'
        ? async (filter: Parameters<JobStore['list']>[0]) =>
            (await target.list(filter)).map((record) => ({ ...record, payload: 'x'.repeat(1_000_000) }))
        : Reflect.get(target, name, target),
  })
  const sample = await readDeadSample(large, new ManualClock(), everything, await counts())
  expect(sample.records.length).toBeLessThanOrEqual(50)
  expect(sample.total).toBe(400)
})

test('they are read again when their numbers change, at most every two seconds, and at least every fifteen', async () => {
  const { store, limits, counts } = await failed({ charge: 5 })
  const clock = new ManualClock()
  let known = await counts()
  const groups = new DeadGroups({ store, clock, snapshots: { counts: async () => known } })
  const readings = async () => {
    await Promise.all([groups.view(viewer), groups.view(viewer)])
    return limits.length
  }
  expect(await readings()).toBe(1)
  await clock.advance(14_999)
  expect(await readings()).toBe(1)
  await clock.advance(1)
  expect(await readings()).toBe(2)
  known = known.map((count) => ({ ...count, counts: { ...count.counts, dead: 4 } }))
  await clock.advance(1_999)
  expect(await readings()).toBe(2)
  await clock.advance(1)
  expect(await readings()).toBe(3)
})

test('a limited viewer is told of no other jobs', async () => {
  const { store, counts } = await failed({ charge: 5, rare: 2 })
  const grant = new Grant('read', { jobs: 'rare' })
  const own = (await counts()).filter((count) => grant.sees(count))
  const sample = await readDeadSample(store, new ManualClock(), grant, own)
  expect(sample.records.map(({ job }) => job)).toEqual(['rare', 'rare'])
  expect(sample.total).toBe(2)
})
