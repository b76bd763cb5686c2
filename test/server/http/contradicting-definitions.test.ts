import { expect, test } from 'vitest'
import { treadle } from '../../../src/app/treadle.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { serve } from '../../../src/server/serve.ts'

const options = { unsigned: true, logger: silentLogger }

test('a server does not start with definitions that contradict each other, as a worker does not', async () => {
  await using jobs = treadle('memory:', options)
  jobs
    .define('once', async () => {})
    .retries(2)
    .delivery('at-most-once')
  await expect(serve(jobs, { port: null, httpPort: 0 })).rejects.toMatchObject({ code: 'DEFINITION_INVALID' })
})

test('a client that asks for work is told of a contradiction that came later, and does not wait for it to go away', async () => {
  await using jobs = treadle('memory:', options)
  const server = await serve(jobs, { port: null, httpPort: 0, dashboard: false })
  jobs
    .define('once', async () => {})
    .retries(2)
    .delivery('at-most-once')
  try {
    const { host, port } = server.httpAddress ?? { host: '', port: 0 }
    const body = JSON.stringify({ jobs: ['other'] })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`http://${host}:${port}/api/v1/leases`, { method: 'POST', headers, body })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('at-most-once')
  } finally {
    await server.stop({ graceMs: 0 })
  }
})
