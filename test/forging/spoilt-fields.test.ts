import { describe, expect, test } from 'vitest'
import { redisUrl } from '../backends/redis-ground.ts'
import { attackedRedisQueue } from './attacked-queue.ts'

/** What somebody may write in the place of anything that is stored. */
const garbage = ['', 'abc', '-50', '{}', '[1,2,3]', '||||||||||\n[]', '9e999']

/** Where all the hashes and texts of a queue stand that a job in some state depends on. */
const tables = [
  'h',
  'b',
  'x',
  'p',
  'e',
  'u',
  'ul',
  'om',
  'oh',
  'ok',
  'oc',
  'sch',
  'c',
  'n',
  'num',
  'workers',
  'locks',
  'lx',
  'gt:*',
  'rate:*',
]

const retries = 2

describe.skipIf(redisUrl() === null)('what somebody writes into the fields of a queue in Redis', () => {
  /** Jobs of all kinds: plain, later, in groups, limited, with keys, in workflows, of schedules. Those that are spoilt, and sound ones. */
  async function filled() {
    const queue = await attackedRedisQueue()
    const ran = new Map<string, number>()
    const count = (id: string) => void ran.set(id, (ran.get(id) ?? 0) + 1)
    const { jobs } = queue
    const plain = jobs.define('plain', async (_: unknown, { id }) => count(id)).retries(retries, { strategy: 'none' })
    const failing = jobs
      .define('failing', async (_: unknown, { id }) => {
        count(id)
        throw new Error('no')
      })
      .retries(retries, { strategy: 'none' })
    const grouped = jobs.define('grouped', async (_: unknown, { id }) => count(id)).group('ada', { concurrency: 2 })
    const paced = jobs.define('paced', async (_: unknown, { id }) => count(id)).rate(1_000, '1s')
    const unique = jobs.define('unique', async (_: unknown, { id }) => count(id)).unique('one', { until: '1h' })
    jobs.define('scheduled', async (_: unknown, { id }) => count(id)).cron('0 * * * *')
    const kinds = { plain, failing, grouped, paced, unique }
    const fill = async () => {
      for (const job of Object.values(kinds)) await job.dispatch({})
      await plain.dispatch({}, { delay: '1h' })
      await plain.dispatch({}, { dependsOn: await plain.dispatch({}), idempotencyKey: `${ran.size}` })
    }
    return { ...queue, kinds, ran, fill }
  }

  async function fieldsOf({ client, key }: Awaited<ReturnType<typeof filled>>['attacker'], table: string) {
    const names = table.endsWith('*')
      ? await client.keys(`${key(table.slice(0, -1)).replaceAll(/[{}]/g, '\\$&')}*`)
      : [key(table)]
    const fields: (readonly [string, string | null])[] = []
    for (const name of names) {
      const type = await client.type(name)
      if (type === 'hash') for (const field of await client.hkeys(name)) fields.push([name, field])
      if (type === 'string') fields.push([name, null])
    }
    return fields
  }

  test.each(tables)(
    'in %s: nothing runs more often than it may, the others run, and all of them can be listed',
    async (table) => {
      const queue = await filled()
      const { client } = queue.attacker
      for (const value of garbage) {
        await queue.fill()
        await queue.jobs.run()
        await queue.fill()
        for (const [key, field] of await fieldsOf(queue.attacker, table)) {
          if (field === null) await client.set(key, value)
          else await client.hset(key, field, value)
        }
        const sound = await queue.kinds.plain.dispatch({})
        const grouped = await queue.kinds.grouped.dispatch({})
        await queue.jobs.run()
        await queue.clock.advance(2 * 3_600_000)
        await queue.jobs.run()
        const states = [await queue.record(sound), await queue.record(grouped)].map(({ state }) => state)
        expect([value, states]).toEqual([value, ['succeeded', 'succeeded']])
        expect([value, [...queue.ran.values()].filter((times) => times > retries + 1)]).toEqual([value, []])
        const listed = await queue.backend.store.list({ limit: 1_000 })
        expect(listed.map(({ id }) => id)).toContain(sound.id)
        await queue.backend.store.counts({ oldest: true })
        await queue.backend.store.workers.list()
        await queue.backend.store.schedules.list()
      }
    },
  )

  test.each(['due', 'run', 'waits'])(
    'an entry of %s that belongs to no job, or comes too early, keeps nobody from claiming',
    async (index) => {
      const { attacker, kinds, jobs, record } = await filled()
      const later = await kinds.plain.dispatch({}, { delay: '1h' })
      for (const id of ['nobody', later.id]) await attacker.client.zadd(attacker.key(index), '-inf', id)
      const [plain, grouped] = [await kinds.plain.dispatch({}), await kinds.grouped.dispatch({})]
      await jobs.run()
      for (const run of [plain, grouped]) expect((await record(run)).state).toBe('succeeded')
      expect(await attacker.client.zscore(attacker.key(index), 'nobody')).toBeNull()
    },
  )

  test.each([0, 1, 2, 3, 4, 9])('a job whose state is said to be %i keeps no other of its lane from running', async (state) => {
    const { attacker, kinds, jobs, record } = await filled()
    for (const job of [kinds.plain, kinds.grouped, kinds.paced]) {
      const forged = await job.dispatch({})
      await attacker.forge(forged.id, { state })
      const sound = await job.dispatch({})
      await jobs.run()
      expect((await record(sound)).state).toBe('succeeded')
      expect((await record(forged)).id).toBe(forged.id)
    }
  })

  test('a row that was spoilt is shown as such', async () => {
    const { attacker, kinds, record } = await filled()
    const attempts = await kinds.plain.dispatch({})
    await attacker.forge(attempts.id, { attempts: -50 })
    expect(await record(attempts)).toMatchObject({ attempts: 0, spoilt: ['its attempts is not a whole number'] })
    const payload = await kinds.plain.dispatch({})
    await attacker.forge(payload.id, { payload: '{garbage' })
    expect(await record(payload)).toMatchObject({ spoilt: ['its payload is not JSON'] })
    const head = await kinds.plain.dispatch({})
    await attacker.client.hset(attacker.key('h'), head.id, 'garbage')
    expect((await record(head)).spoilt).toContain('its lane does not exist')
  })
})
