import { describe, expect, test } from 'vitest'
import { listenHealth } from '../../src/server/health.ts'
import { serve } from '../../src/server/serve.ts'
import { type Serving, serving } from '../server/http/serving.ts'
import { world } from '../world.ts'
import { parseExposition, sampleOf } from './exposition-parser.ts'

async function scrape({ url }: Pick<Serving, 'url'>, token?: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/metrics`, { ...init, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })
}

describe('/metrics of a job server', () => {
  test('counts what other programs make, take and end', async () => {
    const server = await serving()
    const { client, clock } = server
    server.jobs.define('mail', (_: null) => {})
    const { id } = await client.jobs.create({ job: 'mail', payload: null })
    await clock.advance(2_000)
    const [lease] = await client.leases.take({ jobs: ['mail'], lease: '1m' })
    await clock.advance(3_000)
    await client.leases.settle(id, { token: lease?.token ?? '', outcome: 'done' })
    const answer = await scrape(server)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const metrics = parseExposition(await answer.text())
    const pair = { queue: 'default', job: 'mail' }
    expect(sampleOf(metrics, 'treadle_jobs_dispatched_total', pair)).toBe(1)
    expect(sampleOf(metrics, 'treadle_jobs_started_total', pair)).toBe(1)
    expect(sampleOf(metrics, 'treadle_jobs_ended_total', { ...pair, outcome: 'succeeded' })).toBe(1)
    expect(sampleOf(metrics, 'treadle_job_wait_seconds_sum', pair)).toBe(2)
    expect(sampleOf(metrics, 'treadle_job_run_seconds_sum', pair)).toBe(3)
  })

  test('needs a token where there are tokens, and one that only looks is enough', async () => {
    const server = await serving({ token: 'of the admin, 16 signs', readToken: 'of one who only looks' })
    expect((await scrape(server)).status).toBe(401)
    expect((await scrape(server, 'a token that is wrong')).status).toBe(401)
    expect((await scrape(server, 'of one who only looks')).status).toBe(200)
    expect((await scrape(server, 'of one who only looks', { method: 'POST' })).status).toBe(405)
  })

  test('tells a limited token of its own queues alone', async () => {
    const server = await serving({
      tokens: [{ role: 'read', secret: 'for the queue mail alone', queues: ['mail'] }],
      token: 'of the admin, 16 signs',
    })
    const { jobs } = server
    const job = jobs.define('job', (_: null) => {})
    await job.dispatch(null, { queue: 'mail' })
    await job.dispatch(null, { queue: 'secret' })
    const text = await (await scrape(server, 'for the queue mail alone')).text()
    const metrics = parseExposition(text)
    expect(sampleOf(metrics, 'treadle_jobs_dispatched_total', { queue: 'mail' })).toBe(1)
    expect(sampleOf(metrics, 'treadle_queue_jobs', { queue: 'mail', state: 'ready' })).toBe(1)
    expect(text).not.toContain('secret')
    expect(metrics.has('treadle_workers')).toBe(false)
    expect(await (await scrape(server, 'of the admin, 16 signs')).text()).toContain('secret')
  })

  test('is beside the dashboard, and refused to pages of other addresses', async () => {
    const { jobs } = world()
    await using server = await serve(jobs, { port: null, httpPort: 0 })
    const url = `http://127.0.0.1:${server.httpAddress?.port}/metrics`
    parseExposition(await (await fetch(url)).text())
    expect((await fetch(url, { headers: { origin: 'https://elsewhere.example' } })).status).toBe(403)
  })
})

describe('/metrics of a worker', () => {
  test('is on its health port', async () => {
    const { jobs, clock } = world()
    const port = await listenHealth(jobs, { port: 0 })
    const job = jobs.define('job', () => {})
    await job.dispatch()
    await clock.advance(1_000)
    await jobs.run()
    const answer = await fetch(`http://127.0.0.1:${port.address.port}/metrics`)
    const metrics = parseExposition(await answer.text())
    await port.close()
    expect(sampleOf(metrics, 'treadle_jobs_ended_total', { job: 'job', outcome: 'succeeded' })).toBe(1)
    expect(sampleOf(metrics, 'treadle_job_wait_seconds_bucket', { job: 'job', le: '1' })).toBe(1)
  })
})
