import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runScript } from '../../app/child.ts'
import { canStart, ownServices } from '../../services.ts'
import { freshPrefix } from '../redis-ground.ts'

type Services = Awaited<ReturnType<typeof ownServices>>

describe.skipIf(!canStart('redis'))('a program on Redis that does not close its queue', () => {
  let services: Services
  beforeAll(async () => {
    services = await ownServices(['redis'])
  })
  afterAll(() => services.stop())

  const script = (work: string) => `
    import { treadle } from 'treadle'
    const jobs = treadle('${services.urls.redis}?prefix=${freshPrefix()}&timeout=1s', { unsigned: true })
    const job = jobs.define('mail', async (to) => to)
    ${work}
  `

  test('exits after a dispatch', async () => {
    const ended = await runScript(script(`console.log((await job.dispatch('ada')).created)`))
    expect(ended).toMatchObject({ code: 0, out: 'true\n' })
  })

  test('exits after its worker was stopped', async () => {
    const ended = await runScript(
      script(`
        const run = await job.dispatch('ada')
        const working = jobs.work({ signals: false })
        console.log(await run.result())
        await jobs.stop()
        console.log((await working).succeeded)
      `),
    )
    expect(ended).toMatchObject({ code: 0, out: 'ada\n1\n' })
  })

  test('exits after its worker was stopped because the server ended', async () => {
    const ended = await runScript(
      script(`
        const working = jobs.work({ grace: '1s', poll: '100ms' })
        jobs.on('worker:error', () => void jobs.stop())
        await job.dispatch('ada').then((run) => run.result())
        console.log('ready')
        await working
        console.log('stopped')
      `),
      { onOutput: (out) => void (out === 'ready\n' && services.servers.redis.kill()) },
    )
    expect(ended).toMatchObject({ code: 0, out: 'ready\nstopped\n' })
  })
})
