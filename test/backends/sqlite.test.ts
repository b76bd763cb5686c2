import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from 'treadle/sqlite'
import { backendConformance } from 'treadle/testing'
import { afterAll, describe, it } from 'vitest'
import { execute } from '../processes/database.ts'

const folder = mkdtempSync(join(tmpdir(), 'treadle-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const silent = { debug() {}, info() {}, warn() {}, error() {} }
let files = 0

// A fast path answers only what the rules would answer.
for (const [name, fastPaths] of [
  ['sqlite', true],
  ['sqlite, by its rules alone,', false],
] as const) {
  backendConformance({ describe, it }, name, {
    open: (clock) => openSqlite({ path: join(folder, `${++files}.db`), clock, logger: silent, fastPaths }),
    execute: async (sql) => execute(join(folder, `${files}.db`), sql),
  })
}
