import { expect, it } from 'vitest'
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
})
