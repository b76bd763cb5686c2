import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import type { RedisClient } from '../../../src/engines/redis/connections/client.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { occurrence } from '../../../src/testing/conformance/schedules/schedules.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, rawClient, redisUrl } from '../redis-ground.ts'

describe.skipIf(redisUrl() === null)('the round trips of a call that touches runs of schedules', () => {
  test('are as few for 60 of them as for three: their claim, their rescue and their ends', async () => {
    // Sends the scripts, which are called by their digests from then on.
    await tripsFor(1)
    const [few, many] = [await tripsFor(3), await tripsFor(60)]
    expect(many).toEqual(few)
  })
})

/** The round trips of each call on this number of runs. */
async function tripsFor(runs: number) {
  await using raw = await rawClient()
  const { client, during } = counted(raw)
  const clock = new ManualClock()
  await using backend = await openRedis({ clock, client, prefix: freshPrefix(), logger: silentLogger, fastPaths: false })
  const bench = new Bench(backend, clock)
  const at = clock.now() - 60_000
  await bench.store.schedules.enqueue(times(runs, (index) => occurrence(bench, at + index)))
  const claimed = await during(() => bench.claim({ limit: 100 }))
  expect(claimed.answer).toHaveLength(runs)
  await clock.advance(60_000)
  const rescued = await during(() => backend.reap(3))
  expect(rescued.answer).toMatchObject({ returned: runs })
  const again = await bench.claim({ limit: 100 })
  const ends = again.map(({ token }) => ({ token, kind: 'done', result: null, keep: true }) as const)
  const ended = await during(() => backend.settle(ends))
  expect(new Set(ended.answer)).toEqual(new Set(['applied']))
  return { claim: claimed.trips, reap: rescued.trips, settle: ended.trips }
}

/** The same client, which counts what it sends. */
function counted(client: RedisClient) {
  let trips = 0
  const [call, pipeline] = [client.call.bind(client), client.pipeline.bind(client)]
  client.call = (command, args) => {
    trips++
    return call(command, args)
  }
  client.pipeline = (commands) => {
    trips++
    return pipeline(commands)
  }
  const during = async <Answer>(work: () => Promise<Answer>) => {
    const before = trips
    const answer = await work()
    return { answer, trips: trips - before }
  }
  return { client, during }
}
