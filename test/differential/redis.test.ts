import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { type ComparedEngine, difference, differenceText, findDifference } from '../../src/testing/differential/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, redisUrl, valkeyUrl } from '../backends/redis-ground.ts'
import { regressions } from './regressions.ts'

const allPrograms = Math.ceil(Number(process.env.TREADLE_DIFFERENTIAL_PROGRAMS ?? 600) / 10)
const firstSeed = Number(process.env.TREADLE_DIFFERENTIAL_SEED ?? 1)

const servers = [
  { kind: 'redis', url: redisUrl(), fastPaths: true, share: 1 },
  { kind: 'redis', url: redisUrl(), fastPaths: false, share: 1 },
  { kind: 'valkey', url: valkeyUrl(), fastPaths: true, share: 0.5 },
].filter((server): server is typeof server & { url: string } => server.url !== null)

describe.each(servers)('$kind answers as the memory engine does, with fast paths: $fastPaths', ({ url, fastPaths, share }) => {
  const programs = Math.ceil(allPrograms * share)
  const clock = new ManualClock()
  let client: Awaited<ReturnType<typeof rawClient>>
  let backend: QueueBackend
  const prefix = freshPrefix()
  beforeAll(async () => {
    client = await rawClient(url)
    backend = await openFresh({ url, clock, prefix, fastPaths })
  })
  afterAll(async () => {
    await backend[Symbol.asyncDispose]()
    client.disconnect()
  })

  const engine: ComparedEngine = {
    async open() {
      const keys = await client.keys(`{${prefix}}:*`)
      if (keys.length > 0) await client.del(keys)
      return { backend, clock, close: async () => {} }
    },
  }

  test(`in ${programs} random programs`, { timeout: 600_000 + programs * 10_000 }, async () => {
    const found = await findDifference(engine, { programs, firstSeed })
    expect(found && differenceText(found)).toBeNull()
  })

  test.each(Object.entries(regressions))('in the case of %s', async (_, program) => {
    expect(await difference(program, engine)).toBeNull()
  })
})
