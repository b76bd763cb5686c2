import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LiveMove } from '../moving/live-move.ts'
import { scratchFolder } from '../processes/database.ts'
import { endPrograms } from '../processes/program.ts'
import { canStart, ownServices } from '../services.ts'

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(async () => {
  await endPrograms()
  folder.remove()
})

/** In all, on both sides of each move together. */
const jobCount = Number(process.env.TREADLE_MOVE_JOBS ?? 100_000)
const patience = { timeout: Math.max(1_800_000, jobCount * 60) }

describe('moves under load, with movers and servers that are killed', () => {
  test.skipIf(!canStart('postgres') || !canStart('mariadb'))(
    'from SQLite to PostgreSQL, to MariaDB and back to SQLite nothing is lost, and nothing runs twice',
    patience,
    async () => {
      const services = await ownServices(['postgres', 'mariadb'])
      try {
        const { postgres, mariadb } = services.servers
        const first = `sqlite:${folder.file('first.db')}`
        const last = `sqlite:${folder.file('last.db')}`
        const restart = async (server: typeof postgres) => {
          await server!.kill()
          await server!.start()
        }
        await check(first, postgres!.url, () => restart(postgres))
        await check(postgres!.url, mariadb!.url, () => restart(mariadb))
        await check(mariadb!.url, last, () => restart(mariadb))
      } finally {
        await endPrograms()
        await services.stop()
      }
    },
  )
})

let moves = 0

async function check(from: string, to: string, disturb: () => Promise<void>): Promise<void> {
  const log = folder.file(`live-${++moves}.log`)
  const jobs = Math.ceil(jobCount / 6)
  // A dispatch whose answer was lost with a server is sent again for ten seconds.
  const live = new LiveMove({ from, to, log, jobs, kills: 8, settle: '15s', disturb })
  const report = await live.run()
  const { lost, acked } = live.check()
  expect(lost).toEqual([])
  expect(acked).toBeGreaterThanOrEqual(2 * jobs)
  expect(live.ranTwice()).toEqual([])
  expect(report).toMatchObject({ refused: [], unreadable: [] })
}
