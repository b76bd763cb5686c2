import { describe, expect, test } from 'vitest'
import { redisUrl } from '../backends/redis-ground.ts'
import { until } from '../world.ts'
import { attackedRedisQueue } from './attacked-queue.ts'

describe.skipIf(redisUrl() === null)('what somebody writes on Redis beside the jobs', () => {
  test('a group without jobs in front of the others does not keep them from being claimed', async () => {
    const { jobs, attacker, record } = await attackedRedisQueue()
    const job = jobs.define('mail', async (_: string) => {}).group((owner) => owner, { concurrency: 1 })
    const waiting = await job.dispatch('grace')
    const [lines] = await attacker.client.keys(attacker.key('g:*'))
    for (const name of ['', 'ada', '\n']) await attacker.client.zadd(lines as string, -1, name)
    await job.dispatch('hedy')
    await jobs.run()
    expect((await record(waiting)).state).toBe('succeeded')
  })

  test('a turn of a group that is not in line does not keep its next job from being claimed', async () => {
    const { jobs, attacker, record } = await attackedRedisQueue()
    const job = jobs.define('mail', async (_: string) => {}).group((owner) => owner, { concurrency: 1 })
    await job.dispatch('ada', { delay: '1h' })
    const first = await job.dispatch('ada')
    const [turns] = await attacker.client.keys(attacker.key('gt:*'))
    await jobs.run()
    expect((await record(first)).state).toBe('succeeded')
    await attacker.client.hset(turns as string, '=ada', 'none')
    await attacker.client.hset(turns as string, '#', 'none')
    const next = await job.dispatch('ada')
    await jobs.run()
    expect((await record(next)).state).toBe('succeeded')
  })

  test.each(['none', '9223372036854775807'])(
    '%s as the revision of the schedules: they can still be stored and run',
    async (last) => {
      const { jobs, attacker, clock, backend } = await attackedRedisQueue()
      const ran: unknown[] = []
      jobs.define('mail', async (payload: unknown) => void ran.push(payload))
      await jobs.schedules.upsert('one', { job: 'mail', payload: 1, every: '1m' })
      await attacker.client.hset(attacker.key('meta'), 'revision', last)
      await jobs.schedules.upsert('two', { job: 'mail', payload: 2, every: '1m' })
      for (let minutes = 0; minutes < 3; minutes++) {
        await jobs.run()
        await clock.advance(60_000)
      }
      await jobs.run()
      expect(new Set(ran)).toEqual(new Set([1, 2]))
      expect((await backend.store.schedules.list({})).length).toBe(2)
    },
  )

  test.each([
    ['evl', 'other', 'none'],
    ['evp', 'last', 'none'],
    ['evp', 'last', '9223372036854775807'],
    ['evp', 'epoch', 'none'],
  ])('%s %s %s: events are still told', async (table, name, value) => {
    const { jobs, attacker, backend } = await attackedRedisQueue()
    jobs.define('mail', async () => {})
    await attacker.client.hset(attacker.key(table), name, value)
    const events = jobs.events({ types: ['job:succeeded'] })
    const told = events.next()
    await until(async () => (await backend.store.events?.wanted())?.some((wants) => wants.includes('job:succeeded')) ?? false)
    const run = await jobs.dispatch('mail')
    await jobs.run()
    expect((await told).value).toMatchObject({ type: 'job:succeeded', id: run.id })
    await events.return?.()
  })
})
