import { describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { serve } from '../../dist/server/index.js'
import { hasBrowser, useBrowser } from './browser.ts'
import { mounted, silent, visit } from './mounted.ts'

const patience = { timeout: 60_000 }

describe.skipIf(!hasBrowser)('a page without its server', () => {
  const browser = useBrowser()

  const opened = async () => {
    const jobs = treadle('memory:', { logger: silent })
    jobs.define('send', async () => {})
    await jobs.dispatchMany('send', [1, 2, 3])
    const shown = await mounted(jobs)
    const window = await browser.open()
    onTestFinished(async () => {
      await window.context.close()
      await shown[Symbol.asyncDispose]()
      await jobs.close()
    })
    return { jobs, shown, ...window }
  }

  test('says how old its data is, and after many tries is live again, without a reload and without a row twice', async () => {
    const { jobs, shown, page, complaints } = await opened()
    await visit(page, `${shown.origin}/jobs`)
    await page.locator('.live-live').waitFor()
    await page.evaluate(`document.body.dataset.loaded = 'once'`)
    let tries = 0
    page.on('requestfailed', (request) => {
      if (request.url().includes('/-/events?')) tries++
    })
    await shown.stop()
    await page.getByRole('button', { name: /^reconnecting as of \d\d:\d\d:\d\d$/ }).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(3)
    await expect.poll(() => tries, patience).toBeGreaterThan(3)
    await shown.start()
    await page.locator('.live-live').waitFor()
    await jobs.dispatch('send')
    await page.getByRole('button', { name: '1 new' }).click()
    await expect.poll(() => page.locator('tbody tr').count(), patience).toBe(4)
    const ids = await page.locator('tbody td:last-child').allTextContents()
    expect(new Set(ids).size).toBe(4)
    expect(await page.evaluate('document.body.dataset.loaded')).toBe('once')
    expect(complaints).toEqual([])
  })

  test('that is opened then is shown as soon as the server answers', async () => {
    const { shown, page } = await opened()
    await visit(page, `${shown.origin}/jobs`)
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Workers' }).click()
    await page.getByText('This page could not be loaded').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'Workers' }).waitFor()
    await page.getByText('This page could not be loaded').waitFor({ state: 'detached' })
    await page.locator('.live-live').waitFor()
  })

  test('whose session ended with the server asks to sign in again, and comes back to the same place', async () => {
    const jobs = treadle('memory:', { logger: silent })
    jobs.define('send', async () => {})
    await jobs.dispatch('send')
    const token = 'the-token-of-this-test-alone'
    const started = (httpPort: number) => serve(jobs, { port: null, httpPort, token })
    let server = await started(0)
    const { context, page } = await browser.open()
    onTestFinished(async () => {
      await context.close()
      await server.stop({ graceMs: 1_000 })
      await jobs.close()
    })
    const port = server.httpAddress?.port ?? 0
    await page.goto(server.dashboardUrl() ?? '')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await visit(page, `http://127.0.0.1:${port}/jobs?q=state:ready`)
    await page.locator('.live-live').waitFor()
    await server.stop({ graceMs: 1_000 })
    server = await started(port)
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`http://127.0.0.1:${port}/jobs?q=state:ready`)
    await page.locator('tbody .state-ready').first().waitFor()
    await page.locator('.live-live').waitFor()
  })

  test('says that the queue does not answer, and shows it when it does', async () => {
    const { shown, page } = await opened()
    let isDown = true
    await page.route('**/-/me?*', async (route) => {
      if (!isDown) return route.continue()
      const json = { status: 503, title: 'Unavailable', detail: 'The database does not answer' }
      return route.fulfill({ status: 503, json })
    })
    await page.goto(`${shown.origin}/jobs`)
    await page.getByText('The database does not answer').waitFor()
    isDown = false
    await page.locator('tbody tr').first().waitFor()
    expect(await page.locator('tbody tr').count()).toBe(3)
  })
})

describe.skipIf(!hasBrowser)('an open list', () => {
  const browser = useBrowser()

  test('changes its rows in place, greys those that would be elsewhere by now, and moves none', async () => {
    const jobs = treadle('memory:', { logger: silent })
    jobs.define('send', async () => {})
    await jobs.dispatchMany('send', [1, 2, 3])
    const shown = await mounted(jobs)
    const { page, context, complaints } = await browser.open()
    onTestFinished(async () => {
      await context.close()
      await shown[Symbol.asyncDispose]()
      await jobs.close()
    })
    await visit(page, `${shown.origin}/jobs?q=state:ready`)
    const ids = () => page.locator('tbody td:last-child').allTextContents()
    const before = await ids()
    await jobs.run({ limit: 1 })
    await page.locator('tbody tr.silent .state-succeeded').waitFor()
    expect(await page.locator('tbody tr.silent').count()).toBe(1)
    expect(await page.locator('tbody .state-ready').count()).toBe(2)
    const [kept] = await (await jobs.store()).list({ state: 'ready', limit: 1 })
    await (await jobs.store()).cancel(kept?.id ?? '')
    await page.locator('tbody tr.silent .state-cancelled').waitFor()
    await (await jobs.store()).remove({ state: 'cancelled', limit: 1 })
    expect(await ids()).toEqual(before)
    await page.reload()
    await expect.poll(() => page.locator('tbody tr').count(), patience).toBe(1)
    expect(complaints).toEqual([])
  })
})
