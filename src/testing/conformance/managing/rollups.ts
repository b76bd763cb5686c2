import assert from 'node:assert/strict'
import type { RollupBucket, RollupCell } from '../../../queue/contract/stores/rollup-store.ts'
import type { Bench } from '../bench.ts'
import type { Group } from '../suite.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

export const rollups: Group = {
  title: 'statistics',
  needs: ['store', 'rollups'],
  tests: {
    'what several programs add in a minute is one sum per queue and job': async (bench) => {
      await toWholeMinute(bench)
      await bench.rollups.add([cell('mail', 'send', { succeeded: 3, wait: [1, 0, 2], run: [3] })])
      await bench.rollups.add([
        cell('mail', 'send', { succeeded: 1, dead: 2, wait: [0, 1], run: [1, 0, 2] }),
        cell('mail', 'sort'),
      ])
      const [bucket, ...others] = await bench.rollups.read(0)
      assert.deepEqual(others, [])
      assert.equal(bucket?.stepMs, minuteMs)
      assert.equal((bucket?.at ?? 1) % minuteMs, 0)
      assert.deepEqual(cellsOf(bucket), [
        cell('mail', 'send', { succeeded: 4, dead: 2, wait: [1, 1, 2], run: [4, 0, 2] }),
        cell('mail', 'sort'),
      ])
    },
    'sums that are added at the same time are all kept': async (bench) => {
      await toWholeMinute(bench)
      const all = Array.from({ length: 20 }, (_, n) => bench.rollups.add([cell('q', `job ${n % 3}`, { retried: 1, run: [n] })]))
      await Promise.all(all)
      const cells = (await bench.rollups.read(0)).flatMap((bucket) => bucket.cells)
      assert.equal(total(cells, 'retried'), 20)
      assert.equal(cells.length, 3)
    },
    'each minute has its own sums, and minutes before a given instant are excluded': async (bench) => {
      await toWholeMinute(bench)
      const first = bench.clock.now()
      await bench.rollups.add([cell('q', 'a', { succeeded: 1 })])
      await bench.clock.advance(minuteMs)
      await bench.rollups.add([cell('q', 'a', { succeeded: 2 })])
      assert.deepEqual(succeededIn(await bench.rollups.read(first)), [1, 2])
      assert.deepEqual(succeededIn(await bench.rollups.read(first + minuteMs)), [2])
      assert.deepEqual(await bench.rollups.read(first + 3 * minuteMs), [])
    },
    'any name is returned unchanged': async (bench) => {
      const odd = cell('a|b "\u{1f600}\n', "é' \\ \u0001", { other: 1 })
      await bench.rollups.add([odd])
      assert.deepEqual(cellsOf((await bench.rollups.read(0))[0]), [odd])
    },
    'the busiest jobs of a minute are counted separately, and the rest together': async (bench) => {
      const many = Array.from({ length: 300 }, (_, n) => cell(`queue ${n % 40}`, `job ${n}`, { succeeded: n + 1, run: [n + 1] }))
      await bench.rollups.add(many.slice(0, 150))
      await bench.rollups.add(many.slice(150))
      const cells = (await bench.rollups.read(0)).flatMap((bucket) => bucket.cells)
      assert.ok(cells.length <= 120, `${cells.length} are too many`)
      assert.equal(total(cells, 'succeeded'), (300 * 301) / 2)
      assert.equal(
        cells.reduce((sum, { run }) => sum + (run[0] ?? 0), 0),
        (300 * 301) / 2,
      )
      assert.equal(cells.find(({ job }) => job === 'job 299')?.succeeded, 300)
      assert.equal(
        cells.find(({ job }) => job === 'job 0'),
        undefined,
      )
      assert.ok(cells.some(({ job }) => job === '(other)'))
    },
    'old minutes are folded into longer buckets without loss, and finally deleted': async (bench) => {
      await toWholeHour(bench)
      const start = bench.clock.now()
      for (let minute = 0; minute < 20; minute++) {
        await bench.rollups.add([cell('q', `job ${minute % 2}`, { succeeded: 1, wait: [0, 1] })])
        await bench.clock.advance(minuteMs)
      }
      assert.equal((await bench.store.sweep({ part: 'rollups', limit: 1_000 })).changed, 0)
      await bench.clock.advance(3 * hourMs)
      assert.equal((await bench.store.sweep({ part: 'rollups', limit: 1_000 })).changed, 20)
      const tens = await bench.rollups.read(0)
      assert.deepEqual(
        tens.map(({ at, stepMs }) => [at - start, stepMs]),
        [
          [0, 10 * minuteMs],
          [10 * minuteMs, 10 * minuteMs],
        ],
      )
      assert.deepEqual(cellsOf(tens[0]), [
        cell('q', 'job 0', { succeeded: 5, wait: [0, 5] }),
        cell('q', 'job 1', { succeeded: 5, wait: [0, 5] }),
      ])
      await bench.clock.advance(27 * hourMs)
      assert.equal((await bench.store.sweep({ part: 'rollups', limit: 1_000 })).changed, 2)
      const [hour, ...others] = await bench.rollups.read(0)
      assert.deepEqual([hour?.at, hour?.stepMs, others], [start, hourMs, []])
      assert.equal(total(hour?.cells ?? [], 'succeeded'), 20)
      await bench.clock.advance(9 * 24 * hourMs)
      assert.equal((await bench.store.sweep({ part: 'rollups', limit: 1_000 })).changed, 1)
      assert.deepEqual(await bench.rollups.read(0), [])
      assert.equal((await bench.store.sweep({ part: 'rollups', limit: 1_000 })).changed, 0)
    },
  },
}

function cell(queue: string, job: string, more: Partial<RollupCell> = {}): RollupCell {
  return { queue, job, succeeded: 0, retried: 0, dead: 0, other: 0, wait: [], run: [], ...more }
}

function cellsOf(bucket: RollupBucket | undefined): readonly RollupCell[] {
  return (bucket?.cells ?? []).toSorted((a, b) => (a.job < b.job ? -1 : 1))
}

function total(cells: readonly RollupCell[], what: 'succeeded' | 'retried'): number {
  return cells.reduce((sum, each) => sum + each[what], 0)
}

function succeededIn(buckets: readonly RollupBucket[]): readonly number[] {
  return buckets.map(({ cells }) => total(cells, 'succeeded'))
}

async function toWholeMinute({ clock }: Bench): Promise<void> {
  await clock.advance(minuteMs - (clock.now() % minuteMs))
}

async function toWholeHour({ clock }: Bench): Promise<void> {
  await clock.advance(hourMs - (clock.now() % hourMs))
}
