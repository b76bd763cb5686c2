import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { type ComparedEngine, difference, differenceText, findDifference } from '../../src/testing/differential/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, redisUrl } from '../backends/redis-ground.ts'
import { regressions } from './regressions.ts'

const programs = Math.ceil(Number(process.env.TREADLE_DIFFERENTIAL_PROGRAMS ?? 600) / 10)
const firstSeed = Number(process.env.TREADLE_DIFFERENTIAL_SEED ?? 1)

describe.skipIf(redisUrl() === null).each([{ fastPaths: true }, { fastPaths: false }])(
  'redis answers as the memory engine does, with fast paths: $fastPaths',
  ({ fastPaths }) => {
    const clock = new ManualClock()
    let client: Awaited<ReturnType<typeof rawClient>>
    let backend: QueueBackend
    const prefix = freshPrefix()
    beforeAll(async () => {
      client = await rawClient()
      backend = await openFresh({ clock, prefix, fastPaths })
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
  },
)
