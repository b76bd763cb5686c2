import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { type ComparedEngine, difference, differenceText, findDifference } from '../../src/testing/differential/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { SqlGround } from '../backends/sql-ground.ts'
import { regressions } from './regressions.ts'

const programs = Math.ceil(Number(process.env.TREADLE_DIFFERENTIAL_PROGRAMS ?? 600) / 10)
const firstSeed = Number(process.env.TREADLE_DIFFERENTIAL_SEED ?? 1)

/** So far time moves between two programs, that nothing is left of the first one which the queue remembers for a while. */
const betweenProgramsMs = 3_600_000

describe.each(['postgres', 'mariadb'] as const)('%s answers as the memory engine does', (kind) => {
  const ground = new SqlGround(kind)
  const clock = new ManualClock()
  let backend: QueueBackend
  beforeAll(async () => {
    await ground.start()
    backend = await ground.open(clock)
  })
  afterAll(async () => {
    await backend[Symbol.asyncDispose]()
    await ground.stop()
  })

  const engine: ComparedEngine = {
    async open() {
      await ground.empty()
      await clock.advance(betweenProgramsMs)
      return { backend, clock, close: async () => {} }
    },
  }

  test(`in ${programs} random programs`, { timeout: 600_000 + programs * 10_000 }, async () => {
    const found = await findDifference(engine, { programs, firstSeed })
    expect(found && differenceText(found)).toBeNull()
    expect(await ground.faults()).toEqual([])
  })

  test.each(Object.entries(regressions))('in the case of %s', async (_, program) => {
    expect(await difference(program, engine)).toBeNull()
  })
})
