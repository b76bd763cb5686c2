import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { type Treadle, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { execute, scratchFolder } from '../../processes/database.ts'
import { settled } from '../../processes/settled.ts'

let folder: ReturnType<typeof scratchFolder>
let jobs: Treadle

beforeEach(() => {
  folder = scratchFolder()
  jobs = treadle(`sqlite:${folder.file('jobs.db')}`)
})
afterEach(async () => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  await jobs.close()
  folder.remove()
})

/** The files that this thread asks about from now on. */
function lookups(): () => readonly unknown[] {
  const spy = vi.spyOn(fs, 'statSync')
  syncBuiltinESMExports()
  return () => spy.mock.calls.map(([file]) => file)
}

describe('a SQLite file in a folder that does not change', () => {
  test('the log is not asked for its times, which would make each of its syncs store a new one', async () => {
    const path = folder.file('jobs.db')
    const mail = jobs.declare('mail')
    await mail.dispatchMany(Array.from({ length: 2_000 }, (_, n) => `${n} ${'.'.repeat(200)}`))
    // The next commit begins the log anew, so that it does not grow.
    execute(path, 'PRAGMA wal_checkpoint(PASSIVE)')
    await settled(folder.path)
    await mail.dispatch('seen')
    const asked = lookups()
    for (let n = 0; n < 50; n++) await mail.dispatch(n)
    expect(asked().filter((file) => file === `${path}-wal`).length).toBeLessThan(5)
  })
})
