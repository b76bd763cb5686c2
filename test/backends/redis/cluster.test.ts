import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { nextTurn } from '../../../src/core/time/clock.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { treadle } from '../../../src/index.ts'
import { until } from '../../../src/testing/conformance/bench.ts'
import { differenceText, findDifference } from '../../../src/testing/differential/index.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { canStart } from '../../services.ts'
import { freshPrefix } from '../redis-ground.ts'
import { RedisClusterGround } from './cluster-ground.ts'

describe.skipIf(!canStart('redis'))('a queue in a Redis Cluster of three nodes', { timeout: 180_000 }, () => {
  const ground = new RedisClusterGround()
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())

  test('answers as the memory engine does, in random programs', async () => {
    const engine = {
      async open() {
        const clock = new ManualClock()
        const backend = await openRedis({ url: ground.url, prefix: freshPrefix(), clock, logger: silentLogger })
        return { backend, clock, close: () => backend[Symbol.asyncDispose]() }
      },
    }
    const found = await findDifference(engine, { programs: 5, firstSeed: 1 })
    expect(found && differenceText(found)).toBeNull()
  })

  test('queues of different prefixes work side by side, wherever their slots are', async () => {
    const ran = new Set<string>()
    const queues = Array.from({ length: 6 }, () =>
      treadle(`${ground.url}&prefix=${freshPrefix()}`, { unsigned: true, logger: silentLogger }),
    )
    await Promise.all(
      queues.map(async (jobs, index) => {
        const job = jobs.define('note', async (text: string) => void ran.add(text))
        const working = jobs.work({ signals: false })
        const runs = await job.dispatchMany(Array.from({ length: 20 }, (_, n) => `${index}:${n}`))
        for (const run of runs) await run.result()
        await jobs.close()
        await working
      }),
    )
    expect(ran.size).toBe(120)
  })

  test('a queue whose slot is moved to another node waits until it is there, and loses nothing', async () => {
    const prefix = freshPrefix()
    const jobs = treadle(`${ground.url}&prefix=${prefix}`, { unsigned: true, logger: silentLogger })
    const ran: number[] = []
    const job = jobs.define('note', async (number: number) => void ran.push(number))
    await job.dispatchMany([1, 2, 3])
    const later = await job.delay('1h').dispatch(4)
    let dispatching: Promise<unknown> | undefined
    await ground.moveSlotOf(`{${prefix}}:`, async (target) => {
      dispatching = job.dispatch(5)
      while (!(await target.info('errorstats')).includes('TRYAGAIN')) await nextTurn()
    })
    await dispatching
    const working = jobs.work({ signals: false })
    await until(() => ran.length === 4, 'all have run')
    expect(ran.toSorted()).toEqual([1, 2, 3, 5])
    expect(await later.state()).toBe('scheduled')
    await jobs.close()
    await working
  })
})
