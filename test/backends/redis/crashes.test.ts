import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { nextTurn } from '../../../src/core/time/clock.ts'
import { treadle } from '../../../src/index.ts'
import { until } from '../../../src/testing/conformance/bench.ts'
import { canStart, ownServices } from '../../services.ts'
import { freshPrefix, rawClient } from '../redis-ground.ts'

type Services = Awaited<ReturnType<typeof ownServices>>

/** A server that has each write on disk before it acknowledges it. */
describe.skipIf(!canStart('redis'))('a worker on a Redis that crashes', () => {
  let services: Services
  beforeAll(async () => {
    services = await ownServices(['redis'], { durable: true })
  })
  afterAll(() => services.stop())

  const rounds = 3
  const jobsPerRound = 100

  /** Sends jobs and works, while `disturb` is done to the server in each round; gives what was acknowledged and what ran. */
  async function survive(disturb: (url: string) => Promise<void>) {
    const url = services.urls.redis
    const jobs = treadle(`${url}?prefix=${freshPrefix()}&timeout=1s`, { unsigned: true, logger: silentLogger })
    const ran = new Map<number, number>()
    const acknowledged: number[] = []
    const job = jobs
      .define('count', async (n: number, ctx) => {
        if (n % 5 === 0 && ctx.attempt === 1) throw new Error('fails the first time')
        ran.set(n, (ran.get(n) ?? 0) + 1)
      })
      .retries(50, { strategy: 'fixed', base: '10ms', jitter: 'none' })
    const working = jobs.work({ concurrency: 5, poll: '100ms', lease: '2s', signals: false })
    for (let round = 0; round < rounds; round++) {
      const numbers = Array.from({ length: jobsPerRound }, (_, index) => round * jobsPerRound + index)
      const sending = Promise.all(
        numbers.map((n) =>
          job.dispatch(n).then(
            () => acknowledged.push(n),
            () => {},
          ),
        ),
      )
      await until(() => ran.size > round * 10, `round ${round} has begun`)
      await disturb(url)
      await sending
    }
    while (!acknowledged.every((n) => ran.has(n))) await nextTurn()
    await jobs.close()
    await working
    return { acknowledged, ran }
  }

  test('loses nothing that was acknowledged when the server is killed and started again', async () => {
    const { acknowledged, ran } = await survive(async () => {
      await services.servers.redis.kill()
      await services.servers.redis.start()
    })
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(acknowledged.filter((n) => !ran.has(n))).toEqual([])
  })

  test('goes on when the server closes its connections', async () => {
    const { acknowledged } = await survive(async (url) => {
      await using client = await rawClient(url)
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    })
    expect(acknowledged).toHaveLength(rounds * jobsPerRound)
  })

  test('goes on when the server forgets all scripts', async () => {
    const { acknowledged } = await survive(async (url) => {
      await using client = await rawClient(url)
      await client.call('SCRIPT', 'FLUSH')
    })
    expect(acknowledged).toHaveLength(rounds * jobsPerRound)
  })

  test('goes on when the server has stood still for longer than the timeout', async () => {
    const { acknowledged, ran } = await survive(async () => {
      const { pid } = services.servers.redis
      if (pid === null) return
      process.kill(pid, 'SIGSTOP')
      await expect(treadle(`${services.urls.redis}?timeout=200ms`).open()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
      process.kill(pid, 'SIGCONT')
    })
    expect(acknowledged.filter((n) => !ran.has(n))).toEqual([])
  })

  test('a server whose memory is full refuses jobs, and those that it has are worked off, whatever they are', async () => {
    const url = services.urls.redis
    await using client = await rawClient(url)
    const jobs = treadle(`${url}?prefix=${freshPrefix()}`, { unsigned: true, logger: silentLogger })
    const ran: string[] = []
    const note = async (_: unknown, { job, attempt }: { job: string; attempt: number }) => {
      ran.push(`${job} ${attempt}`)
    }
    const plain = jobs.define('plain', note)
    const grouped = jobs.define('grouped', note).group('house', { concurrency: 1 })
    const limited = jobs.define('limited', note).concurrency(1)
    const failing = jobs
      .define('failing', async (payload: unknown, ctx) => {
        await note(payload, ctx)
        throw new Error('always')
      })
      .retries(1, { base: 1, jitter: 'none' })
    const first = await plain.dispatch(1)
    const all = [
      first,
      await grouped.dispatch(1),
      await grouped.dispatch(2),
      await limited.dispatch(1),
      await limited.dispatch(2),
      await plain.dispatch(2, { unique: 'two' }),
      await plain.dispatch(3, { dependsOn: [first] }),
    ]
    const failed = await failing.dispatch(1)
    await client.call('CONFIG', 'SET', 'maxmemory', 1)
    await expect(plain.dispatch(4)).rejects.toMatchObject({ code: 'DATABASE_UNWRITABLE' })
    const working = jobs.work({ signals: false })
    for (const run of all) await run.result({ timeout: '30s' })
    await expect(failed.result({ timeout: '30s' })).rejects.toMatchObject({ code: 'RUN_FAILED' })
    expect(ran.toSorted()).toEqual([
      ...['failing 1', 'failing 2', 'grouped 1', 'grouped 1', 'limited 1', 'limited 1'],
      ...['plain 1', 'plain 1', 'plain 1'],
    ])
    await client.call('CONFIG', 'SET', 'maxmemory', 0)
    await (await plain.dispatch(4)).result({ timeout: '30s' })
    await jobs.close()
    await working
  })
})
