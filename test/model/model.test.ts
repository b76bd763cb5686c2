import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { openSqlite } from 'treadle/sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { openFresh, redisUrl, valkeyUrl } from '../backends/redis-ground.ts'
import { faultsOf } from '../processes/database.ts'
import type { StoredBackend } from './ground.ts'
import { Machine } from './machine.ts'
import { programs } from './operations.ts'
import { takingTurns } from './taking-turns.ts'

const folder = mkdtempSync(join(tmpdir(), 'treadle-model-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const files = { sqlite: join(folder, 'one.db'), turns: join(folder, 'two.db') }
const seed = Number(process.env.TREADLE_MODEL_SEED ?? 1)
const times = Number(process.env.TREADLE_MODEL_TIMES ?? 1)
const logger = { debug() {}, info() {}, warn() {}, error() {} }

async function openTwice(clock: ManualClock): Promise<StoredBackend> {
  const open = () => openSqlite({ path: files.turns, clock, logger }) as Promise<StoredBackend>
  return takingTurns(await open(), await open())
}

/**
 * Random programs of dispatches, claims, settlements, crashes, expiries, cancellations, limits, workflows and retries. Whatever
 * the program: nothing is lost, no limit is exceeded, no job is begun more often than it may, who has lost a lease settles
 * nothing, and in the end every job has ended. A program that fails is shrunk to a few steps. The programs are the same in each run;
 * `TREADLE_MODEL_SEED=2` gives others, and `TREADLE_MODEL_TIMES=20` so many times more.
 */
describe.each([
  { kind: 'memory', file: null, numRuns: 3_000, open: (clock: ManualClock) => openMemory({ clock }) },
  {
    kind: 'sqlite',
    file: files.sqlite,
    numRuns: 1_000,
    open: (clock: ManualClock) => openSqlite({ path: files.sqlite, clock, logger }),
  },
  { kind: 'sqlite, by two programs in turns,', file: files.turns, numRuns: 500, open: openTwice },
  ...[
    { kind: 'redis', url: redisUrl(), numRuns: 50 },
    { kind: 'valkey', url: valkeyUrl(), numRuns: 25 },
  ].flatMap(({ kind, url, numRuns }) =>
    url === null ? [] : [{ kind, file: null, numRuns, open: (clock: ManualClock) => openFresh({ url, clock }) }],
  ),
])('$kind does what the model does', ({ file, numRuns, open }) => {
  test(`in ${numRuns} random programs`, { timeout: 300_000 * times }, async () => {
    const clock = new ManualClock()
    const backend = (await open(clock)) as StoredBackend
    let program = 0
    const property = fc.asyncProperty(programs, (spec) => new Machine(backend, clock, `p${++program}`, spec).run())
    await fc.assert(property, { numRuns: numRuns * times, seed })
    const kept = (await backend.store.counts()).flatMap(({ counts }) => Object.values(counts))
    expect(kept.every((count) => count === 0)).toBe(true)
    await backend[Symbol.asyncDispose]()
    if (file !== null) expect(faultsOf(file)).toEqual([])
  })
})
