import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { dashboard } from '../../dist/server/dashboard/index.js'
import { hasBrowser, useBrowser } from './browser.ts'

const patience = { timeout: 60_000 }

describe.skipIf(!hasBrowser)('a browser with more windows than it opens connections to one server', () => {
  const browser = useBrowser()

  test('keeps all of them up to date, and leaves room for actions', async () => {
    const jobs = treadle('memory:')
    jobs.define('send', async () => {})
    await jobs.dispatch('send')
    const shown = dashboard(jobs, { authorize: () => ({ role: 'operate' }) })
    const server = createServer(shown.node).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { context, complaints } = await browser.open()
    onTestFinished(async () => {
      await context.close()
      server.close()
      server.closeAllConnections()
      await shown.close()
      await jobs.close()
    })
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/queues/default`
    const windows = await Promise.all(Array.from({ length: 9 }, () => context.newPage()))
    for (const page of windows) await page.goto(address, { waitUntil: 'commit' })
    const ready = (at: number) =>
      windows[at]
        ?.locator('.tile', { hasText: /^ready/ })
        .locator('.tile-value')
        .textContent()
    for (const at of windows.keys()) await expect.poll(() => ready(at), patience).toBe('1')
    await jobs.dispatch('send')
    for (const at of windows.keys()) await expect.poll(() => ready(at), patience).toBe('2')
    await windows.at(-1)?.locator('.page-head button', { hasText: 'Pause' }).click()
    for (const page of windows) await page.locator('.page-head button', { hasText: 'Resume' }).waitFor()
    // A window that is closed makes room for one that had none.
    await Promise.all(windows.slice(0, 5).map((page) => page.close()))
    for (const page of windows.slice(5)) await expect.poll(() => page.locator('.live').textContent(), patience).toMatch(/^live$/)
    expect(complaints).toEqual([])
  }, 240_000)
})
