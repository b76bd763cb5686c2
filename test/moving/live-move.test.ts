import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freshPrefix, redisUrl } from '../backends/redis-ground.ts'
import { scratchFolder } from '../processes/database.ts'
import { endPrograms } from '../processes/program.ts'
import { freshDatabase } from '../services.ts'
import { LiveMove } from './live-move.ts'

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(async () => {
  await endPrograms()
  folder.remove()
})

describe('a move while producers and workers use both sides, whose mover is killed', () => {
  test('from SQLite to PostgreSQL nothing is lost, and nothing runs twice', async () => {
    await using database = await freshDatabase('postgres')
    await check(`sqlite:${folder.file('jobs.db')}`, database.url)
  })

  test('nor from MariaDB to SQLite', async () => {
    await using database = await freshDatabase('mariadb')
    await check(database.url, `sqlite:${folder.file('jobs.db')}`)
  })

  test.skipIf(redisUrl() === null)('nor from Redis to SQLite', async () => {
    await check(`${redisUrl()}?prefix=${freshPrefix()}`, `sqlite:${folder.file('jobs.db')}`)
  })

  test.skipIf(redisUrl() === null)('nor from SQLite to Redis', async () => {
    await check(`sqlite:${folder.file('jobs.db')}`, `${redisUrl()}?prefix=${freshPrefix()}`)
  })
})

async function check(from: string, to: string): Promise<void> {
  const live = new LiveMove({ from, to, log: folder.file('live.log'), jobs: 1_000, kills: 3, settle: '1ms' })
  const report = await live.run()
  expect(live.check()).toMatchObject({ lost: [], repeated: [] })
  expect(live.check().acked).toBeGreaterThanOrEqual(2_000)
  expect(report).toMatchObject({ refused: [], unreadable: [], isComplete: true })
  expect(report.left).toMatchObject({ ready: 0, scheduled: 0, blocked: 0, running: 0 })
}
