import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServerHandle } from '../../scripts/services/server-handle.mjs'
import { LiveMove } from '../moving/live-move.ts'
import { scratchFolder } from '../processes/database.ts'
import { endPrograms } from '../processes/program.ts'
import { canStart, freshDatabase, mysqlUrl, ownServices } from '../services.ts'
import { Backlog, scheduleFaults } from './backlog.ts'
import type { Mark } from './soak-log.ts'

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(async () => {
  await endPrograms()
  folder.remove()
})

/** The jobs that are moved from the first queue to the last; each move adds a tenth of that to it, on both of its sides. */
const jobCount = Number(process.env.TREADLE_MOVE_JOBS ?? 100_000)
/** Whether it goes on is looked at by itself: however slow the machine is, only a standstill fails. */
const patience = { timeout: 24 * 3_600_000 }
const kills = 8
/** What passes in one parcel, and the parcels of a kill at stride 1, on average. */
const usual = { jobsPerParcel: 500, parcelsPerKill: 4 }

interface Stop {
  readonly url: string
  /** Null where it is no server, or none that may be killed. */
  readonly server: ServerHandle | null
}

describe('moves under load, with movers and servers that are killed', () => {
  test.skipIf(!canStart('postgres') || !canStart('mariadb') || !canStart('redis'))(
    'from SQLite to PostgreSQL, Redis, MariaDB, MySQL and back to SQLite nothing is lost, and nothing runs twice',
    patience,
    async () => {
      const services = await ownServices(['postgres', 'mariadb', 'redis'])
      const mysql = mysqlUrl() === null ? null : await freshDatabase('mysql')
      try {
        const { postgres, mariadb, redis } = services.servers
        const servers = [postgres, redis, mariadb].map((server): Stop => ({ url: server.url, server }))
        const beside = mysql === null ? [] : [{ url: mysql.url, server: null }]
        const file = (name: string): Stop => ({ url: `sqlite:${folder.file(name)}`, server: null })
        await moveAlong([file('first.db'), ...servers, ...beside, file('last.db')])
      } finally {
        await endPrograms()
        await mysql?.dispose()
        await services.stop()
      }
    },
  )
})

async function moveAlong(stops: readonly Stop[]): Promise<void> {
  const backlog = new Backlog(folder.file('backlog.log'))
  await backlog.fill(stops[0]!.url, jobCount)
  const marks: Mark[] = []
  for (const [index, from] of stops.slice(0, -1).entries()) marks.push(...(await check(from, stops[index + 1]!, index)))
  await backlog.run(stops.at(-1)!.url)
  expect(backlog.sent).toBeGreaterThanOrEqual(jobCount)
  expect(backlog.faults()).toEqual([])
  expect(scheduleFaults(marks)).toEqual([])
}

async function check(from: Stop, to: Stop, index: number): Promise<readonly Mark[]> {
  const log = folder.file(`live-${index}.log`)
  const jobs = Math.ceil(jobCount / 20)
  const stride = Math.max(1, Math.floor(jobCount / usual.jobsPerParcel / kills / usual.parcelsPerKill))
  const disturb = async () => {
    for (const { server } of [from, to]) {
      await server?.kill()
      await server?.start()
    }
  }
  // A dispatch whose answer was lost with a server is sent again for ten seconds.
  const live = new LiveMove({ from: from.url, to: to.url, log, jobs, kills, stride, settle: '15s', disturb })
  const report = await live.run()
  const { lost, acked } = live.check()
  expect(lost).toEqual([])
  expect(acked).toBeGreaterThanOrEqual(2 * jobs)
  expect(live.ranTwice()).toEqual([])
  expect(report).toMatchObject({ refused: [], unreadable: [] })
  console.log(
    `move ${index + 1}: ${acked} jobs of its own, ${live.moverStarts} movers, ${report.elapsedMs} ms for the last of them`,
  )
  return live.log.read()
}
