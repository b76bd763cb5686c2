import { describe, expect, test } from 'vitest'
import type { RollupCell, RollupStore } from '../../src/queue/contract/stores/rollup-store.ts'
import { cellsOfText, RollupSums, textOfCells } from '../../src/queue/statistics/rollup-cells.ts'
import { RollupRecorder } from '../../src/telemetry/rollups/rollup-recorder.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { world } from '../world.ts'

const job = { queue: 'mail', job: 'send' }
const done = { outcome: 'succeeded', runMs: 3, settleMs: 1 } as const

function recording() {
  const clock = new ManualClock()
  const written: (readonly RollupCell[])[] = []
  const failures: unknown[] = []
  const answers: Error[] = []
  const store: RollupStore = {
    add: async (cells) => {
      const failure = answers.shift()
      if (failure !== undefined) throw failure
      written.push(cells)
    },
    read: async () => [],
  }
  const recorder = new RollupRecorder({ store, clock, onFailed: (error) => failures.push(error) })
  return { clock, recorder, written, failures, answers }
}

describe('the statistics of a program', () => {
  test('are written together every few seconds, however much happens, and not while nothing does', async () => {
    const { clock, recorder, written } = recording()
    await clock.advance(60_000)
    expect(written).toEqual([])
    for (let n = 0; n < 1_000; n++) {
      recorder.started(job, 40)
      recorder.ended(job, done)
    }
    recorder.ended(job, { outcome: 'retried', runMs: 1, settleMs: 1 })
    recorder.ended(job, { outcome: 'skipped', runMs: null, settleMs: null })
    for (const outcome of ['snoozed', 'waiting', 'released', 'lost'] as const) {
      recorder.ended(job, { outcome, runMs: 5, settleMs: 1 })
    }
    expect(written).toEqual([])
    await clock.advance(5_000)
    expect(written).toEqual([
      [{ ...job, succeeded: 1_000, retried: 1, dead: 0, other: 1, wait: [0, 0, 0, 0, 0, 1_000], run: [1, 0, 1_000] }],
    ])
    await clock.advance(60_000)
    expect(written).toHaveLength(1)
  })

  test('that could not be written are written with those that come next, and their failure is told once', async () => {
    const { clock, recorder, written, failures, answers } = recording()
    answers.push(new Error('no disk'), new Error('no disk'))
    recorder.ended(job, done)
    await clock.advance(5_000)
    recorder.ended(job, done)
    await clock.advance(5_000)
    expect([written, failures]).toEqual([[], [new Error('no disk')]])
    recorder.ended(job, done)
    await recorder.flush()
    expect(written).toEqual([[expect.objectContaining({ succeeded: 3 })]])
  })

  test('of very many names do not fill the memory', async () => {
    const { recorder, written } = recording()
    for (let n = 0; n < 5_000; n++) {
      recorder.ended({ queue: 'q', job: `job ${n}` }, done)
      if (n % 100 === 0) await Promise.resolve()
    }
    await recorder.flush()
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThanOrEqual(120)
    const cells = new RollupSums().add(written.flat()).sums
    expect(cells.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(5_000)
  })

  test('of a worker are stored when it stops, with what failed and how long it took', async () => {
    const { jobs } = world()
    jobs.define('charge', (card: number) => {
      if (card > 1) throw new Error('declined')
    })
    for (const card of [1, 1, 2]) await jobs.dispatch('charge', card, { queue: 'money' })
    await jobs.run()
    const [bucket] = (await (await jobs.store()).rollups?.read(0)) ?? []
    expect(bucket?.cells).toMatchObject([{ queue: 'money', job: 'charge', succeeded: 2, dead: 1, retried: 0 }])
    const total = (counts: readonly number[] | undefined) => counts?.reduce((sum, count) => sum + count, 0)
    expect([total(bucket?.cells[0]?.wait), total(bucket?.cells[0]?.run)]).toEqual([3, 3])
  })
})

describe('the text of a bucket', () => {
  test('comes back as it was, and what somebody else has spoilt of it is left out', () => {
    const cell: RollupCell = { ...job, succeeded: 1, retried: 2, dead: 3, other: 4, wait: [0, 1], run: [] }
    const text = textOfCells([cell])
    expect(cellsOfText(text)).toEqual([cell])
    expect(cellsOfText(`[${text.slice(1, -1)},[1,2],null,["a","b",["x"],[],[]],["a","b",[-1],[],[]]]`)).toEqual([cell])
    for (const spoilt of ['', '{}', '[', 'null', '7']) expect(cellsOfText(spoilt)).toEqual([])
  })
})
