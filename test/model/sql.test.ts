import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { SqlGround } from '../backends/sql-ground.ts'
import { mysqlUrl } from '../services.ts'
import type { StoredBackend } from './ground.ts'
import { Machine } from './machine.ts'
import { programs } from './operations.ts'
import { takingTurns } from './taking-turns.ts'

const seed = Number(process.env.TREADLE_MODEL_SEED ?? 1)
const times = Number(process.env.TREADLE_MODEL_TIMES ?? 1)
const numRuns = 100 * times

/** The programs of `model.test.ts`, by two programs in turns on a real server, so that neither can rely on what it remembers. */
describe.each(['postgres', 'mariadb', 'mysql'] as const)('%s, by two programs in turns, does what the model does', (engine) => {
  const isMissing = engine === 'mysql' && mysqlUrl() === null
  test.skipIf(isMissing)(`in ${numRuns} random programs`, { timeout: 300_000 * times }, async () => {
    const ground = new SqlGround(engine)
    await ground.start()
    try {
      const clock = new ManualClock()
      const open = async () => (await ground.openAgain(clock)) as StoredBackend
      const backend = takingTurns(await open(), await open())
      let program = 0
      const property = fc.asyncProperty(programs, (spec) => new Machine(backend, clock, `p${++program}`, spec).run())
      await fc.assert(property, { numRuns, seed })
      const kept = (await backend.store.counts()).flatMap(({ counts }) => Object.values(counts))
      expect(kept.every((count) => count === 0)).toBe(true)
      await backend[Symbol.asyncDispose]()
      expect(await ground.faults()).toEqual([])
    } finally {
      await ground.stop()
    }
  })
})
