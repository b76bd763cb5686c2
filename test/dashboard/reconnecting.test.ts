import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { dashboard } from '../../dist/server/dashboard/index.js'
import { hasBrowser, useBrowser } from './browser.ts'

const patience = { timeout: 60_000 }

describe.skipIf(!hasBrowser)('an open page', () => {
  const browser = useBrowser()

  test('follows changes, says when the server is gone, and goes on when it is there again', async () => {
    const jobs = treadle('memory:')
    jobs.define('send', async () => {})
    await jobs.dispatch('send')
    const shown = dashboard(jobs, { authorize: () => ({ role: 'read' }) })
    let server = createServer(shown.node)
    const { port } = await listening(server, 0)
    const { context, page, complaints } = await browser.open()
    onTestFinished(async () => {
      await context.close()
      stop(server)
      await shown.close()
      await jobs.close()
    })
    await page.goto(`http://127.0.0.1:${port}/`)
    const ready = page.locator('.tile', { hasText: 'Ready' }).locator('.tile-value')
    const status = page.locator('.live')
    await expect.poll(() => ready.textContent(), patience).toBe('1')
    await expect.poll(() => status.textContent(), patience).toContain('live')
    await jobs.dispatch('send')
    await expect.poll(() => ready.textContent(), patience).toBe('2')
    stop(server)
    await expect.poll(() => status.textContent(), patience).toContain('reconnecting')
    expect(await ready.textContent()).toBe('2')
    await jobs.dispatch('send')
    server = createServer(shown.node)
    await listening(server, port)
    await expect.poll(() => ready.textContent(), patience).toBe('3')
    await expect.poll(() => status.textContent(), patience).toContain('live')
    expect(complaints).toEqual([])
  }, 180_000)
})

async function listening(server: Server, port: number): Promise<AddressInfo> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server.address() as AddressInfo
}

function stop(server: Server): void {
  server.close()
  server.closeAllConnections()
}
