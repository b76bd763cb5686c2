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

backendConformance({ describe, it }, 'sqlite', {
  open: (clock) => openSqlite({ path: join(folder, `${++files}.db`), clock, logger: silent }),
  execute: async (sql) => execute(join(folder, `${files}.db`), sql),
})
