import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { dashboard } from '../../dist/server/dashboard/index.js'
import { type JobServer, serve } from '../../dist/server/index.js'
import { accessibilityProblems, hasBrowser, type Opened, useBrowser } from './browser.ts'

describe.skipIf(!hasBrowser)('somebody who has lost the way', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let server: JobServer
  let origin: string
  let opened: Opened

  beforeAll(async () => {
    jobs = treadle('memory:', { logger: { debug() {}, info() {}, warn() {}, error() {} } })
    jobs.define('charge', async () => {
      throw new Error('no luck')
    })
    server = await serve(jobs, { port: null, httpPort: 0 })
    origin = `http://127.0.0.1:${server.httpAddress?.port}`
    opened = await browser.open()
  })
  afterAll(async () => {
    await opened?.context.close()
    await server?.stop({ graceMs: 1_000 })
    await jobs?.close()
  })

  test('finds a page at an address that is none, and a program finds a problem', async () => {
    const { page } = opened
    const answer = await page.goto(`${origin}/quues`)
    expect(answer?.status()).toBe(404)
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('main').getByRole('link', { name: 'overview' }).click()
    await page.waitForURL(`${origin}/`)
    const plain = await fetch(`${origin}/quues`)
    expect([plain.status, plain.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
  })

  test('is led to the job that another one waits for by the sentence that names it', async () => {
    const { page } = opened
    const first = await jobs.dispatch('charge', { n: 1 }, { delay: '1h' })
    const waiting = await jobs.dispatch('charge', { n: 2 }, { dependsOn: [first] })
    await page.goto(`${origin}/jobs/${waiting.id}`)
    await page.locator('.why').getByTitle(first.id).click()
    await page.waitForURL(`${origin}/jobs/${first.id}`)
    await page.goto(`${origin}/jobs/${waiting.id}`)
    await page.locator('.why').getByTitle(first.id).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('finds a job by the beginning of its id, in capitals and with blanks around it', async () => {
    const { page } = opened
    const { id } = await jobs.dispatch('charge', { n: 3 }, { delay: '1h' })
    await page.goto(`${origin}/jobs`)
    await page.getByRole('searchbox', { name: 'Search jobs' }).fill(`  ${id.slice(0, 13).toUpperCase()} `)
    await page.keyboard.press('Enter')
    await page.locator(`tbody a[title="${id}"]`).first().waitFor()
  })

  test('is sent to the sign-in of the application where that decides, and comes back to the same page', async () => {
    let isSignedIn = false
    const shown = dashboard(jobs, { authorize: () => (isSignedIn ? { role: 'read', user: 'ada' } : null) })
    const host = createServer(shown.node).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const { page } = opened
    const address = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    await page.goto(`${address}/jobs?q=state:dead`)
    await page.getByRole('heading', { name: 'You cannot see this dashboard yet' }).waitFor()
    expect(await page.getByLabel('Token').count()).toBe(0)
    expect(await accessibilityProblems(page)).toEqual([])
    isSignedIn = true
    await page.getByRole('link', { name: 'Try again' }).click()
    await page.waitForURL(`${address}/jobs?q=state:dead`)
    await page.getByRole('heading', { name: 'Jobs' }).waitFor()
    host.close()
    host.closeAllConnections()
    await shown.close()
  })

  test('is told when the server was updated under an open page, and one click loads the new one', async () => {
    const { page } = opened
    await page.goto(`${origin}/queues`)
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    await page.locator('.live-live').waitFor()
    await page.route('**/-/events?*', (route) => route.abort())
    await page.route('**/-/me?*', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ json: { ...(await answer.json()), version: '99.0.0' } })
    })
    // Another page has other topics, so it asks for another stream.
    await page.keyboard.press('g')
    await page.keyboard.press('w')
    await page.getByText('The server has been updated since this page was loaded.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.waitForURL(`${origin}/workflows`)
    await page.locator('.live-live').waitFor()
    expect(await page.getByText('The server has been updated').count()).toBe(0)
  })
})
