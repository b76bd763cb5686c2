import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { treadle } from '../../../src/index.ts'
import { until } from '../../../src/testing/conformance/bench.ts'
import { canStart, ownServices } from '../../services.ts'
import { freshPrefix, rawSession } from '../beanstalkd-ground.ts'

type Services = Awaited<ReturnType<typeof ownServices>>

describe.skipIf(!canStart('beanstalkd'))('a Beanstalkd server that is draining', () => {
  let services: Services
  beforeAll(async () => {
    services = await ownServices(['beanstalkd'])
  })
  afterAll(() => services.stop())

  test('takes no jobs, and is emptied by its workers, whatever becomes of the jobs', async () => {
    const url = services.urls.beanstalkd as string
    const told: string[] = []
    const logger = { ...silentLogger, error: (text: string) => told.push(text) }
    const jobs = treadle(`${url}/${freshPrefix()}`, { unsigned: true, logger })
    const ran: string[] = []
    const good = jobs.define('good', async (n: number) => void ran.push(`good ${n}`))
    let failures = 0
    const shaky = jobs.define('shaky', async (n: number) => {
      if (failures++ === 0) throw new Error('fails the first time')
      ran.push(`shaky ${n}`)
    })
    shaky.retries(3, { strategy: 'fixed', base: '10ms', jitter: 'none' })
    const hopeless = jobs.define('hopeless', async () => {
      throw new Error('always fails')
    })
    await jobs.dispatchMany(good, [1, 2, 3])
    await shaky.dispatch(1)
    await hopeless.dispatch(1)
    const { pid } = services.servers.beanstalkd
    process.kill(pid as number, 'SIGUSR1')
    const session = await rawSession(url)
    while ((await session.ask('put 0 0 1', '')).word !== 'DRAINING');
    await expect(good.dispatch(4)).rejects.toMatchObject({
      code: 'DATABASE_UNWRITABLE',
      message: 'Beanstalkd is draining and takes no more jobs: it is about to be stopped',
    })
    await expect(jobs.dispatchMany(good, [4, 5])).rejects.toMatchObject({
      code: 'DATABASE_UNWRITABLE',
      message: expect.stringMatching(/0 of 2 jobs are stored; the others are not$/),
    })
    const working = jobs.work({ concurrency: 5, poll: '100ms', signals: false })
    const buried = async () => /current-jobs-buried: (\d+)/.exec(String((await session.ask('stats')).body))?.[1]
    await until(() => ran.length === 4, 'all but the hopeless one have run')
    while ((await buried()) !== '1');
    expect(ran.toSorted()).toEqual(['good 1', 'good 2', 'good 3', 'shaky 1'])
    session.destroy()
    await jobs.close()
    await working
    expect(told.filter((text) => /draining|could not be written/.test(text))).toEqual([])
  })
})
