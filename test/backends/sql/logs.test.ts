import { expect, it } from 'vitest'
import { type Bench, times } from '../../../src/testing/conformance/bench.ts'
import { onSqlDatabases } from './several-programs.ts'

const bounds = { lines: 1_000, bytes: 1_000_000 }
const sweep = ({ store }: Bench) => store.sweep({ part: 'logs', limit: 2 })

onSqlDatabases('the logs of jobs', (programs) => {
  it('of jobs that are not there any more are swept away, a part at a time, and those of others stay', () =>
    programs.open(1, async ([bench]) => {
      const ids = await bench!.send(...times(5, () => ({})))
      await bench!.logs.append(
        ids.map((id) => ({ id, attempt: 1, lines: 1, dropped: 0, text: 'a' })),
        bounds,
      )
      // As an older program would do it, which knows nothing of logs.
      await programs.query(`DELETE FROM {jobs} WHERE id IN ('${ids[1]}', '${ids[3]}')`)
      const swept = [await sweep(bench!), await sweep(bench!), await sweep(bench!)]
      expect(swept.map(({ looked }) => looked)).toEqual([2, 2, 1])
      expect(swept.reduce((sum, { changed }) => sum + changed, 0)).toBe(2)
      const left = await Promise.all(ids.map(async (id) => (await bench!.logs.read(id, 0, 9)).length))
      expect(left).toEqual([1, 0, 1, 0, 1])
    }))

  it('that several programs write at once have all their lines, each with a number of its own', () =>
    programs.open(3, async (benches) => {
      const id = await benches[0]!.sendOne()
      const chunks = (program: number) => times(30, (n) => ({ id, attempt: 1, lines: 1, dropped: 0, text: `${program} ${n}` }))
      await Promise.all(
        benches.map(async ({ logs }, program) => {
          for (const chunk of chunks(program)) await logs.append([chunk], bounds)
        }),
      )
      const stored = await benches[0]!.logs.read(id, 0, 100)
      expect(new Set(stored.map(({ text }) => text)).size).toBe(90)
      expect(stored.map(({ first }) => first)).toEqual(times(90, (n) => n + 1))
    }))
})
