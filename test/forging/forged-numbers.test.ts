import { describe, expect, test } from 'vitest'
import { type AttackedQueue, attackedQueue, engines } from './attacked-queue.ts'

type Ask = Awaited<ReturnType<AttackedQueue['bedrock']>>['ask']

const claim = { jobs: [{ job: 'mail', concurrency: null }], queues: null, limit: 1, leaseMs: 1_000, owner: 'w' }

describe.each(engines)('numbers that somebody writes into a row of %s', (engine) => {
  test('less than no attempts do not make a job run more often: it is rejected', async () => {
    const queue = await attackedQueue(engine)
    let runs = 0
    const job = queue.jobs.define('mail', async () => {
      runs++
      throw new Error('no')
    })
    const run = await job.dispatch()
    await queue.forge(run.id, { attempts: -50 })
    await queue.jobs.run()
    expect([runs, await queue.record(run)]).toMatchObject([
      0,
      { state: 'dead', reason: 'rejected', errors: [{ code: 'ENVELOPE_MALFORMED' }] },
    ])
  })

  test.each(['0', '1', '-5', '9007199254740991', '9223372036854775807'])(
    'a counter of job numbers that says %s costs no job that was acknowledged',
    async (next) => {
      const queue = await attackedQueue(engine)
      const create = async (ask: Ask, data: number) => (await ask('CreateJob', { name: 'mail', data: { data } })).json.jobID
      const first = await queue.bedrock()
      expect([await create(first.ask, 1), await create(first.ask, 2)]).toEqual([1, 2])
      await queue.attacker.forgeCounter(next)
      const second = await queue.bedrock()
      const made = [await create(second.ask, 3), await create(first.ask, 4), await create(second.ask, 5)]
      const { json } = await second.ask('CreateJobs', { jobs: [{ name: 'mail', data: { data: 6 } }] })
      const numbers = [1, 2, ...made, ...json.jobIDs]
      const told = await Promise.all(numbers.map(async (jobID) => (await second.ask('QueryJob', { jobID })).json.data))
      expect(told).toEqual([1, 2, 3, 4, 5, 6].map((data) => ({ data })))
    },
  )

  test('the most attempts that can be written keep no other job from being claimed', async () => {
    const queue = await attackedQueue(engine)
    const ran: string[] = []
    const job = queue.jobs.define('mail', async (_: unknown, { id }) => void ran.push(id))
    const [forged, sound] = [await job.dispatch(), await job.dispatch()]
    await queue.forge(forged.id, { attempts: 2_147_483_647 })
    await queue.jobs.run()
    expect(ran).toContain(sound.id)
    expect((await queue.record(forged)).finishedAt).not.toBeNull()
  })

  test('less than no attempts are written while it runs: it is rejected when it comes back', async () => {
    const queue = await attackedQueue(engine)
    let runs = 0
    const job = queue.jobs
      .define('mail', async (_: object, { id }) => {
        runs++
        await queue.forge(id, { attempts: -50 })
        throw new Error('no')
      })
      .retries(2)
      .backoff({ strategy: 'none' })
    const run = await job.dispatch({})
    await queue.jobs.run()
    expect([runs, (await queue.record(run)).reason]).toEqual([1, 'rejected'])
  })

  test('a server does not hand out a job with less than no attempts, or that was made at no time', async () => {
    const queue = await attackedQueue(engine)
    const { client } = await queue.http()
    const made = await client.jobs.createMany([1, 2, 3].map((payload) => ({ job: 'mail', payload })))
    const [attempts, created, sound] = made.map(({ id }) => id) as [string, string, string]
    await queue.forge(attempts, { attempts: -50 })
    await queue.forge(created, { created_at: 9_000_000_000_000_000 })
    const leases = await client.leases.take({ jobs: ['mail'], limit: 10 })
    expect(leases.map(({ id }) => id)).toEqual([sound])
    for (const id of [attempts, created]) expect(await queue.record({ id })).toMatchObject({ state: 'dead', reason: 'rejected' })
  })

  test('less than no rescues do not make a job outlive more workers', async () => {
    const queue = await attackedQueue(engine)
    const run = await queue.jobs.define('mail', async () => {}).dispatch()
    const maxRescues = 2
    await queue.forge(run.id, { rescues: -50 })
    for (let rescues = 1; rescues <= maxRescues; rescues++) {
      await queue.backend.lease({ ...claim, maxRescues } as never)
      await queue.clock.advance(1_000)
      await queue.backend.reap(maxRescues)
      expect(await queue.record(run)).toMatchObject({ state: 'ready', rescues })
    }
    await queue.backend.lease({ ...claim, maxRescues } as never)
    await queue.clock.advance(1_000)
    await queue.backend.reap(maxRescues)
    expect(await queue.record(run)).toMatchObject({ state: 'dead', reason: 'poisoned' })
  })
})
