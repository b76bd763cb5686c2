import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { treadle } from 'treadle'
import { ManualClock } from 'treadle/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { query, scratchFolder } from '../../processes/database.ts'

let folder: ReturnType<typeof scratchFolder>
let path: string
beforeEach(() => {
  folder = scratchFolder()
  path = folder.file('jobs.db')
})
afterEach(() => folder.remove())

test('a database thread that could not open the file is made anew for the next call, and closing works', async () => {
  const jobs = treadle(`sqlite:${path}`)
  await jobs.define('mail', async () => {}).dispatch()
  const store = await jobs.store()
  renameSync(path, `${path}.away`)
  mkdirSync(path)
  await expect(store.list({ limit: 1 })).rejects.toMatchObject({ code: 'DATABASE_REPLACED' })
  rmdirSync(path)
  renameSync(`${path}.away`, path)
  expect(await store.list({ limit: 1 })).toHaveLength(1)
  await jobs.close()
})

test('the idempotency keys of jobs that died are forgotten', async () => {
  const clock = new ManualClock()
  const jobs = treadle(`sqlite:${path}`, { clock })
  const dying = jobs.define('dying', async (_: number) => Promise.reject(new Error('no'))).idempotencyKey((n) => `key ${n}`)
  await dying.dispatchMany([1, 2, 3])
  expect(await jobs.run()).toMatchObject({ dead: 3 })
  expect(query(path, 'SELECT once_key FROM treadle_once')).toHaveLength(3)
  await clock.advance(2 * 3_600_000)
  await jobs.prune()
  expect(query(path, 'SELECT once_key FROM treadle_once')).toEqual([])
  await jobs.close()
})
