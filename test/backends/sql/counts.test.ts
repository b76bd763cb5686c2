import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { SqlGround } from '../sql-ground.ts'

describe.each(['postgres', 'mariadb'] as const)('the entries that count jobs in %s are folded', (engine) => {
  let ground: SqlGround
  beforeAll(async () => {
    ground = new SqlGround(engine)
    await ground.start()
  })
  afterAll(() => ground.stop())

  test('also where jobs are ended one by one', () =>
    program(async (bench) => {
      await bench.send(...times(600, () => ({})))
      const leases = await bench.claim({ limit: 600 })
      await Promise.all(leases.map((lease) => bench.settle(bench.done(lease, { keep: true }))))
      return { entriesAtMost: 1_000, succeeded: 600 }
    }))

  test('by a program that writes little itself, when others that wrote little have left many', async () => {
    await (await ground.open(new ManualClock()))[Symbol.asyncDispose]()
    const left = times(1_500, (index) => `(77, 4, ${index % 2 === 0 ? 1 : -1})`)
    await ground.query(`INSERT INTO {counts} (lane, state, jobs) VALUES ${left.join(', ')}`)
    await program(async (bench) => {
      await bench.sendOne()
      return { entriesAtMost: 20, succeeded: 0 }
    })
  })

  async function program(work: (bench: Bench) => Promise<{ entriesAtMost: number; succeeded: number }>): Promise<void> {
    const clock = new ManualClock()
    const bench = new Bench(await ground.openAgain(clock), clock)
    const { entriesAtMost, succeeded } = await work(bench)
    await bench.backend[Symbol.asyncDispose]()
    const [left] = await ground.query<{ entries: string }>('SELECT COUNT(*) AS entries FROM {counts}')
    expect(Number(left?.entries)).toBeLessThan(entriesAtMost)
    const sumOf = async (table: string, lanes: string) => {
      const [sum] = await ground.query<{ jobs: string }>(
        `SELECT COALESCE(SUM(jobs), 0) AS jobs FROM {${table}} WHERE state = 4 AND lane ${lanes} 0`,
      )
      return Number(sum?.jobs)
    }
    const unfolded = await sumOf('counts', '>')
    expect(unfolded + (await sumOf('totals', '>'))).toBe(succeeded)
    expect(unfolded + (await sumOf('totals', '='))).toBe(succeeded)
  }
})
