import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { nextTurn } from '../../../src/core/time/clock.ts'
import { treadle } from '../../../src/index.ts'
import { until } from '../../../src/testing/conformance/bench.ts'
import { canStart, ownServices } from '../../services.ts'
import { freshPrefix } from '../beanstalkd-ground.ts'

type Services = Awaited<ReturnType<typeof ownServices>>

/** A server with its binlog, synced before anything is acknowledged. */
describe.skipIf(!canStart('beanstalkd'))('a worker on a Beanstalkd that crashes', () => {
  let services: Services
  beforeAll(async () => {
    services = await ownServices(['beanstalkd'], { durable: true })
  })
  afterAll(() => services.stop())

  const rounds = 3
  const jobsPerRound = 100

  /** Sends jobs and works, while `disturb` is done to the server in each round; gives what was acknowledged and what ran. */
  async function survive(disturb: (dispatch: () => Promise<unknown>) => Promise<void>) {
    const url = `${services.urls.beanstalkd}/${freshPrefix()}?timeout=1s`
    const jobs = treadle(url, { unsigned: true, logger: silentLogger })
    const ran = new Map<number, number>()
    const acknowledged: number[] = []
    const job = jobs
      .define('count', async (n: number, ctx) => {
        // Some fail once, so that copies of jobs are made while the server goes.
        if (n % 5 === 0 && ctx.attempt === 1) throw new Error('fails the first time')
        ran.set(n, (ran.get(n) ?? 0) + 1)
      })
      .retries(50, { strategy: 'fixed', base: '10ms', jitter: 'none' })
    const working = jobs.work({ concurrency: 5, poll: '100ms', signals: false })
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
      await disturb(() => job.dispatch(1))
      await sending
    }
    await untilLong(() => acknowledged.every((n) => ran.has(n)))
    await jobs.close()
    await working
    return { acknowledged, ran }
  }

  test('loses nothing that was acknowledged when the server is killed and started again', async () => {
    const { acknowledged, ran } = await survive(async () => {
      await services.servers.beanstalkd.kill()
      await services.servers.beanstalkd.start()
    })
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(acknowledged.filter((n) => !ran.has(n))).toEqual([])
  })

  test('loses nothing when the server hangs for longer than its timeout', async () => {
    const { acknowledged, ran } = await survive(async (dispatch) => {
      const { pid } = services.servers.beanstalkd
      if (pid === null) return
      process.kill(pid, 'SIGSTOP')
      await expect(dispatch()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
      process.kill(pid, 'SIGCONT')
    })
    expect(acknowledged.filter((n) => !ran.has(n))).toEqual([])
  })
})

async function untilLong(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn()
}
