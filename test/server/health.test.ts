import { afterEach, describe, expect, it } from 'vitest'
import { listenHealth } from '../../src/server/health.ts'
import type { WorkerState } from '../../src/worker/health/worker-state.ts'

const sound: WorkerState = { owner: 'w', running: 2, concurrency: 10, allowed: 10, breaker: 'closed', load: null }
let close: (() => Promise<void>) | undefined
afterEach(() => close?.())

async function asking(
  workerState: () => Promise<WorkerState | null>,
): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  const port = await listenHealth({ workerState }, { port: 0 })
  close = () => port.close()
  return (path, init) => fetch(`http://127.0.0.1:${port.address.port}${path}`, init)
}

describe('the health of a worker', () => {
  it.each([
    ['takes jobs', sound, 200, 'ready'],
    ['tries again after failures', { ...sound, breaker: 'half-open' } as const, 200, 'ready'],
    ['takes none because the queue failed', { ...sound, breaker: 'open' } as const, 503, 'circuit breaker open'],
    ['has not begun, or has ended', null, 503, 'not working'],
  ])('says of one that %s whether it is ready', async (_, state, status, text) => {
    const ask = await asking(async () => state)
    const answer = await ask('/ready?probe=1')
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject({ status: text })
    expect((await ask('/live')).status).toBe(200)
  })

  it('is not ready where nothing can be told of it', async () => {
    const ask = await asking(() => Promise.reject(new Error('the queue is closed')))
    expect((await ask('/ready')).status).toBe(503)
  })

  it('knows no other paths and no other methods', async () => {
    const ask = await asking(async () => sound)
    expect((await ask('/metrics')).status).toBe(404)
    expect((await ask('/ready', { method: 'POST' })).status).toBe(405)
  })
})
