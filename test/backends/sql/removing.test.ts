import { expect, it } from 'vitest'
import { times } from '../../../src/testing/conformance/bench.ts'
import { onSqlDatabases } from './several-programs.ts'

onSqlDatabases('removing ended jobs', (programs) => {
  it('leaves one alone that is put back at the same moment', () =>
    programs.open(1, async ([bench]) => {
      const [id] = await bench!.send({}, {})
      await bench!.settle(...(await bench!.claim()).map((lease) => bench!.dead(lease)))
      const putBack = `UPDATE {jobs} SET state = 0, finished_at = NULL WHERE id = '${id}'`
      expect(await programs.inTheWay([putBack], () => bench!.store.remove({ state: 'dead', limit: 10 }))).toBe(1)
      expect((await bench!.record(id!)).state).toBe('ready')
    }))

  it('takes as many as it is asked for, in transactions that are small', () =>
    programs.open(1, async ([bench]) => {
      await bench!.send(...times(2_500, () => ({})))
      await bench!.settle(...(await bench!.claim({ limit: 2_500 })).map((lease) => bench!.done(lease, { keep: true })))
      expect(await bench!.store.remove({ state: 'succeeded', limit: 2_200 })).toBe(2_200)
      expect(await bench!.store.remove({ state: 'succeeded', limit: 2_200 })).toBe(300)
      expect(await bench!.store.counts()).toEqual([])
    }))

  it('of several programs at once removes each job once', () =>
    programs.open(3, async (benches) => {
      const [bench] = benches
      await bench!.send(...times(600, () => ({})))
      await bench!.settle(...(await bench!.claim({ limit: 600 })).map((lease) => bench!.done(lease, { keep: true })))
      const removed = await Promise.all(benches.map(({ store }) => store.remove({ state: 'succeeded', limit: 1_000 })))
      expect(removed.reduce((sum, count) => sum + count, 0)).toBe(600)
      expect(await bench!.store.counts()).toEqual([])
    }))
})
