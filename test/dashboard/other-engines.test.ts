import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { dashboard } from '../../dist/server/dashboard/index.js'
import { serve } from '../../dist/server/index.js'
import { accessibilityProblems, hasBrowser, useBrowser } from './browser.ts'
import { pages } from './sample.ts'

const settings = {
  logger: { debug() {}, info() {}, warn() {}, error() {} },
  signingKey: 'a-key-for-the-test-of-the-dashboard-only',
}

describe.skipIf(!hasBrowser)('the dashboard of other engines', () => {
  const browser = useBrowser()

  test('shows every page of a queue on Redis', async () => {
    const jobs = treadle(`${process.env.TREADLE_TEST_REDIS_URL}?prefix=dashboard-${randomBytes(6).toString('hex')}`, settings)
    const failing = jobs.define('charge', async () => {
      throw new Error('The card was declined')
    })
    const sending = jobs.define('send-email', async () => {}).queue('mail')
    jobs.define('digest', async () => {}).dailyAt('02:30')
    const dead = await failing.dispatch({})
    const flow = await jobs.chain([sending.step({}), sending.step({})])
    const working = jobs.work({ signals: false })
    await dead.result({ timeout: '60s' }).catch(() => {})
    await flow.wait({ timeout: '60s' })
    const server = await serve(jobs, { port: null, httpPort: 0 })
    const opened = await browser.open()
    onTestFinished(async () => {
      await opened.context.close()
      await server.stop({ graceMs: 1_000 })
      await jobs.close()
      await working
    })
    const { page } = opened
    for (const path of [...pages, `/jobs/${dead.id}`, `/workflows/${flow.id}`]) {
      await page.goto(`http://127.0.0.1:${server.httpAddress?.port}${path}`)
      await page.locator('main h1').first().waitFor({ state: 'attached' })
      await page.locator('.loading').first().waitFor({ state: 'detached' })
      expect(await page.locator('main .problem').allTextContents(), path).toEqual([])
    }
    await page.goto(`http://127.0.0.1:${server.httpAddress?.port}/dead`)
    await page
      .getByRole('button', { name: /^Retry/ })
      .first()
      .waitFor()
    await page.getByText('The card was declined').first().waitFor()
    expect(opened.complaints).toEqual([])
  })

  test('says of a broker without a store, once, that its jobs cannot be queried, and what to add', async () => {
    const jobs = treadle(process.env.TREADLE_TEST_BEANSTALKD_URL ?? '', settings)
    await expect(serve(jobs, { port: null, httpPort: 0 })).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    const shown = dashboard(jobs, { authorize: () => ({ role: 'operate' }) })
    const host = createServer(shown.node).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const opened = await browser.open()
    onTestFinished(async () => {
      await opened.context.close()
      host.close()
      host.closeAllConnections()
      await shown.close()
      await jobs.close()
    })
    const { page } = opened
    for (const path of pages) {
      await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}${path}`)
      await page.getByText('Put a coordination store beside the broker').waitFor()
      expect(await page.getByRole('alert').count(), path).toBe(1)
    }
    expect(await accessibilityProblems(page)).toEqual([])
    expect(opened.complaints).toEqual([])
  })
})
