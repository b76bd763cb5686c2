import { expect, it } from 'vitest'
import type { JobFilter } from '../../../src/queue/contract/store.ts'
import { times } from '../../../src/testing/conformance/bench.ts'
import { onSqlDatabases } from './several-programs.ts'

onSqlDatabases('listing the jobs of a state that very many are in', (programs) => {
  it('gives the newest first, page by page, as it does for few', () =>
    programs.open(1, async ([bench]) => {
      const ids: string[] = []
      for (let batch = 0; batch < 11; batch++) ids.push(...(await bench!.send(...times(1_000, () => ({})))))
      const [later] = await bench!.send({ delayMs: 60_000 })
      const first = await bench!.store.list({ state: 'ready', limit: 700 })
      const second = await bench!.store.list({ state: 'ready', limit: 700, before: first.at(-1)!.id })
      expect([...first, ...second].map(({ id }) => id)).toEqual(ids.slice(-1_400).reverse())
      expect((await bench!.store.list({ state: 'scheduled', limit: 9 })).map(({ id }) => id)).toEqual([later])
      expect(await bench!.store.list({ state: 'ready', queue: 'other', limit: 9 })).toEqual([])
    }))

  it('finds them behind newer jobs in another state, and goes on where a page has ended', () =>
    programs.open(1, async ([bench]) => {
      const ids: string[] = []
      for (let batch = 0; batch < 11; batch++) {
        ids.push(...(await bench!.send(...times(1_000, (index) => ({ job: `job-${index % 3}` })))))
      }
      for (let batch = 0; batch < 2; batch++) await bench!.send(...times(1_100, () => ({ delayMs: 60_000 })))
      const newest = ids.toReversed()
      const idsOf = async (filter: Omit<JobFilter, 'limit'>) =>
        (await bench!.store.list({ ...filter, limit: 40 })).map(({ id }) => id)
      expect(await idsOf({ state: 'ready' })).toEqual(newest.slice(0, 40))
      expect(await idsOf({ state: 'ready', before: newest[39]! })).toEqual(newest.slice(40, 80))
      expect(await idsOf({ job: 'job-1' })).toEqual(newest.filter((_, index) => (10_999 - index) % 1_000 % 3 === 1).slice(0, 40))
      expect(await idsOf({ queue: 'default', state: 'ready' })).toEqual(newest.slice(0, 40))
    }))
})
