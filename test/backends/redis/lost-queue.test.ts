import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { systemClock } from '../../../src/core/time/clock.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { treadle } from '../../../src/index.ts'
import { freshPrefix, openFresh, rawClient, redisUrl } from '../redis-ground.ts'

describe.skipIf(redisUrl() === null)('a queue in Redis whose keys somebody deletes', () => {
  test('is logged as lost, and works on as an empty one', async () => {
    const prefix = freshPrefix()
    // When a clock was set, the server is asked again before the next call.
    let aheadMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    const errors: string[] = []
    const logger = { ...silentLogger, error: (message: string) => void errors.push(message) }
    await using backend = await openRedis({ url: redisUrl() ?? '', prefix, clock, logger })
    const jobs = treadle({ backend, unsigned: true, logger: silentLogger })
    const mail = jobs.define('mail', async () => {})
    await using client = await rawClient()
    const deleteAll = async () => client.del(await client.keys(`{${prefix}}:*`))
    const sendLater = async () => {
      aheadMs += 10_000
      return (await mail.dispatch()).id
    }

    await sendLater()
    await deleteAll()
    const sent = [await sendLater(), await sendLater()]
    expect(errors).toEqual([expect.stringMatching(/has lost the queue .*: its keys were deleted/)])
    expect((await backend.store.list({ limit: 9 })).map(({ id }) => id).sort()).toEqual(sent)

    await deleteAll()
    // Another program opens the empty queue first.
    await using _other = await openFresh({ prefix })
    await sendLater()
    expect(errors).toHaveLength(2)
    await jobs.close()
  })
})
