import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from 'treadle/sqlite'
import { type ComparedEngine, difference, differenceText, findDifference, ManualClock } from 'treadle/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { regressions } from './regressions.ts'

const folder = mkdtempSync(join(tmpdir(), 'treadle-differential-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const logger = { debug() {}, info() {}, warn() {}, error() {} }
let files = 0

const engine: ComparedEngine = {
  async open() {
    const path = join(folder, `${++files}.db`)
    const clock = new ManualClock()
    const backend = await openSqlite({ path, clock, logger })
    const close = async () => {
      await backend[Symbol.asyncDispose]()
      for (const end of ['', '-wal', '-shm', '.wake']) rmSync(path + end, { force: true })
    }
    return { backend, clock, close }
  },
}

const programs = Number(process.env.TREADLE_DIFFERENTIAL_PROGRAMS ?? 400)

/** `TREADLE_DIFFERENTIAL_PROGRAMS=20000` runs more of them; `TREADLE_DIFFERENTIAL_SEED=20001` begins with others. */
const firstSeed = Number(process.env.TREADLE_DIFFERENTIAL_SEED ?? 1)

describe('SQLite answers as the memory engine does', () => {
  test(`in ${programs} random programs`, { timeout: 600_000 + programs * 1_000 }, async () => {
    const found = await findDifference(engine, { programs, firstSeed })
    expect(found && differenceText(found)).toBeNull()
  })

  test.each(Object.entries(regressions))('in the case of %s', async (_, program) => {
    expect(await difference(program, engine)).toBeNull()
  })
})
