import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import type { RedisClient } from '../../../src/engines/redis/connections/client.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, rawClient, redisUrl } from '../redis-ground.ts'

const rules = { jobs: [{ job: 'work', concurrency: null }] }

describe.skipIf(redisUrl() === null)(
  'on Redis the answers of the server are as short beside many neighbours as beside 10',
  () => {
    test('if a job is asked what holds it back, and its name is in as many queues', async () => {
      const read = (count: number) =>
        answersOf(async (bench, during) => {
          const [id] = await bench.send({}, ...times(count, (index) => ({ queue: `queue-${index}` })))
          return during(() => bench.store.holds(id as string, rules))
        })
      expect(await read(1_000)).toBeLessThan((await read(10)) + 100)
    })

    test('if schedules are listed by the beginning of their names', async () => {
      const read = (count: number) =>
        answersOf(async (bench, during) => {
          const names = ['mine-é*1', ...times(count, (index) => `other-${index}`)]
          await bench.store.schedules.register(
            names.map((name) => ({ name, expression: '* * * * *', timezone: 'UTC', version: 'one' })),
          )
          return during(async () => {
            const listed = await bench.store.schedules.list({ prefix: 'mine-é*' })
            expect(listed.map(({ name }) => name)).toEqual(['mine-é*1'])
          })
        })
      expect(await read(150)).toBeLessThan((await read(10)) + 100)
    })
  },
)

test.skipIf(redisUrl() === null)('a job on Redis must run alone if one in any of many queues must', async () => {
  await answersOf(async (bench) => {
    const queues = times(600, (index) => ({ queue: `queue-${index}` }))
    const [id] = await bench.send({}, ...queues, { queue: 'last', singleInstance: true })
    const [running] = await bench.claim({ queues: ['queue-7'], limit: 1 })
    expect(running).toBeDefined()
    expect(await bench.store.holds(id as string, rules)).toMatchObject([{ rule: 'single', limit: 1, running: 1 }])
    return 0
  })
})

type During = (work: () => Promise<unknown>) => Promise<number>

/** How much the server answers during a piece of work. */
async function answersOf(act: (bench: Bench, during: During) => Promise<number>): Promise<number> {
  await using raw = await rawClient()
  const { client, during } = measured(raw)
  const clock = new ManualClock()
  await using backend = await openRedis({ clock, client, prefix: freshPrefix(), logger: silentLogger, fastPaths: false })
  return await act(new Bench(backend, clock), during)
}

/** The same client, which measures what it is answered. */
function measured(client: RedisClient) {
  let size = 0
  const [call, pipeline] = [client.call.bind(client), client.pipeline.bind(client)]
  const sized = async <Answer>(answer: Promise<Answer>) => {
    size += JSON.stringify(await answer).length
    return answer
  }
  client.call = (command, args) => sized(call(command, args))
  client.pipeline = (commands) => {
    const sent = pipeline(commands)
    return { exec: () => sized(sent.exec()) }
  }
  const during: During = async (work) => {
    const before = size
    await work()
    return size - before
  }
  return { client, during }
}
