import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMemory } from 'treadle/memory'
import { openSqlite } from 'treadle/sqlite'
import { ManualClock } from 'treadle/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { freshPrefix, openFresh, rawClient, redisUrl, valkeyUrl } from '../backends/redis-ground.ts'
import { SqlGround } from '../backends/sql-ground.ts'
import { type ApplicationEngine, findApiDifference } from './public-api/comparing.ts'

/** `TREADLE_DIFFERENTIAL_PROGRAMS=20000` runs more of them; `TREADLE_DIFFERENTIAL_SEED=20001` begins with others. */
const allPrograms = Number(process.env.TREADLE_DIFFERENTIAL_PROGRAMS ?? 600)
const firstSeed = Number(process.env.TREADLE_DIFFERENTIAL_SEED ?? 1)
const logger = { debug() {}, info() {}, warn() {}, error() {} }

async function agree(engine: ApplicationEngine, share: number): Promise<void> {
  const programs = Math.ceil(allPrograms * share)
  const found = await findApiDifference(engine, { programs, firstSeed })
  expect(found && JSON.stringify(found, null, 1)).toBeNull()
}

const timeout = { timeout: 3_600_000 }

describe('what an application sees', () => {
  test('is the same twice in memory', timeout, () =>
    agree(
      {
        async open() {
          const clock = new ManualClock()
          const backend = openMemory({ clock })
          return { backend, clock, close: async () => await backend[Symbol.asyncDispose]() }
        },
      },
      0.01,
    ),
  )

  describe('on SQLite', () => {
    const folder = mkdtempSync(join(tmpdir(), 'treadle-applications-'))
    afterAll(() => rmSync(folder, { recursive: true, force: true }))
    let files = 0

    test('is what it sees in memory', timeout, () =>
      agree(
        {
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
        },
        0.05,
      ),
    )
  })

  describe.each(['postgres', 'mariadb'] as const)('on %s', (kind) => {
    const ground = new SqlGround(kind)
    const clock = new ManualClock()
    let backend: QueueBackend
    beforeAll(async () => {
      await ground.start()
      backend = await ground.open(clock)
    })
    afterAll(async () => {
      await backend[Symbol.asyncDispose]()
      await ground.stop()
    })

    test('is what it sees in memory', timeout, () =>
      agree(
        {
          async open() {
            await ground.empty()
            return { backend, clock, close: async () => {} }
          },
        },
        0.015,
      ),
    )
  })

  const servers = [
    { kind: 'redis', url: redisUrl() },
    { kind: 'valkey', url: valkeyUrl() },
  ].filter((server): server is typeof server & { url: string } => server.url !== null)

  describe.each(servers)('on $kind', ({ url }) => {
    const clock = new ManualClock()
    const prefix = freshPrefix()
    let client: Awaited<ReturnType<typeof rawClient>>
    let backend: QueueBackend
    beforeAll(async () => {
      client = await rawClient(url)
      backend = await openFresh({ url, clock, prefix })
    })
    afterAll(async () => {
      await backend[Symbol.asyncDispose]()
      client.disconnect()
    })

    test('is what it sees in memory', timeout, () =>
      agree(
        {
          async open() {
            const keys = await client.keys(`{${prefix}}:*`)
            if (keys.length > 0) await client.del(keys)
            return { backend, clock, close: async () => {} }
          },
        },
        0.015,
      ),
    )
  })
})
