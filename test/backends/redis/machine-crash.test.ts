import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { nextTurn } from '../../../src/core/time/clock.ts'
import { treadle } from '../../../src/index.ts'
import { until } from '../../../src/testing/conformance/bench.ts'
import { canStart, ownServices } from '../../services.ts'
import { freshPrefix, rawClient } from '../redis-ground.ts'

/**
 * `appendfsync everysec` syncs the file once a second. The process may die at any time: what it has written is in the file. When the
 * machine dies, what was written since the last sync is gone; the file then ends earlier, which is what is done to it here.
 */
describe.skipIf(!canStart('redis'))('a queue in a Redis with appendfsync everysec', () => {
  let services: Awaited<ReturnType<typeof ownServices>>
  beforeAll(async () => {
    services = await ownServices(['redis'])
  })
  afterAll(() => services.stop())

  const everysec = async () => {
    await using client = await rawClient(services.urls.redis)
    await client.call('CONFIG', 'SET', 'appendfsync', 'everysec')
    const [, folder] = (await client.call('CONFIG', 'GET', 'dir')) as [string, string]
    return folder
  }

  /** The file that the server appends to. */
  const appendOnlyFile = (folder: string) => {
    const file = readdirSync(join(folder, 'appendonlydir')).find((name) => name.endsWith('.incr.aof'))
    return join(folder, 'appendonlydir', file ?? 'no such file')
  }

  const open = (prefix: string) => {
    const ran: number[] = []
    const url = `${services.urls.redis}?prefix=${prefix}&timeout=5s`
    const jobs = treadle(url, { unsigned: true, logger: silentLogger })
    return { jobs, ran, job: jobs.define('count', async (n: number) => void ran.push(n)) }
  }

  test('nothing that was acknowledged is lost when the server is killed', async () => {
    await everysec()
    const { jobs, job, ran } = open(freshPrefix())
    const acknowledged: number[] = []
    for (let round = 0; round < 5; round++) {
      const numbers = Array.from({ length: 200 }, (_, index) => round * 200 + index)
      const sending = Promise.allSettled(numbers.map((n) => job.dispatch(n).then(() => acknowledged.push(n))))
      await until(() => acknowledged.length > round * 200, `round ${round} has begun`)
      await services.servers.redis.kill()
      await services.servers.redis.start()
      await everysec()
      await sending
    }
    const working = jobs.work({ concurrency: 20, signals: false })
    while (!acknowledged.every((n) => ran.includes(n))) await nextTurn()
    await jobs.close()
    await working
    expect(acknowledged.length).toBeGreaterThan(0)
  })

  test('when the machine dies, what was sent since the last sync is lost, what ended since then runs again, and the rest goes on', async () => {
    const file = appendOnlyFile(await everysec())
    const prefix = freshPrefix()
    const before = open(prefix)
    // Synced: twenty that wait, ten that have run.
    for (let n = 0; n < 30; n++) await before.job.dispatch(n)
    await before.jobs.run({ limit: 10 })
    expect(before.ran).toHaveLength(10)
    const syncedBytes = statSync(file).size
    // Not synced: ten more that ended, and ten more that were sent.
    await before.jobs.run({ limit: 10 })
    for (let n = 30; n < 40; n++) await before.job.dispatch(n)
    expect(before.ran).toHaveLength(20)
    await services.servers.redis.kill()
    await before.jobs.close()
    // In the middle of a write, as disks do it.
    truncateSync(file, syncedBytes + 7)
    await services.servers.redis.start()

    const after = open(prefix)
    await after.jobs.run()
    expect(after.ran.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 10))
    const [counts] = await (await after.jobs.store()).counts()
    expect(counts?.counts).toMatchObject({ ready: 0, running: 0, succeeded: 30, dead: 0 })
    await after.job.dispatch(100)
    await after.jobs.run()
    expect(after.ran).toContain(100)
    await after.jobs.close()
  })
})
