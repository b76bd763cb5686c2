import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { type Dashboard, dashboard } from '../../dist/server/dashboard/index.js'
import { hasBrowser, type Opened, useBrowser } from './browser.ts'

const minuteMs = 60_000

describe.skipIf(!hasBrowser)('times in a browser', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let shown: Dashboard
  let server: Server
  let origin: string
  let id: string

  beforeAll(async () => {
    jobs = treadle('memory:', { logger: { debug() {}, info() {}, warn() {}, error() {} } })
    jobs.define('fails', async () => {
      throw new Error('no luck')
    })
    jobs
      .define('digest', async () => {})
      .dailyAt('02:30')
      .timezone('Europe/Paris')
    id = (await jobs.dispatch('fails')).id
    await jobs.run()
    await jobs.dispatch('fails')
    await jobs.dispatch('fails', null, { delay: '50s' })
    shown = dashboard(jobs, { authorize: () => ({ role: 'operate' }) })
    server = createServer(shown.node).listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    server?.close()
    server?.closeAllConnections()
    await shown?.close()
    await jobs?.close()
  })

  const visit = async ({ page }: Opened, path: string) => {
    await page.goto(origin + path)
    await page.locator('main h1').first().waitFor({ state: 'attached' })
    await page.locator('.loading').first().waitFor({ state: 'detached' })
  }

  test.each([
    ['fast', 5],
    ['slow', -5],
  ])('a clock that is five minutes %s is corrected by that of the server', async (_, minutes) => {
    const opened = await browser.open()
    await opened.page.addInitScript(`{ const now = Date.now; Date.now = () => now() + ${minutes * minuteMs} }`)
    for (const path of ['/', '/jobs', `/jobs/${id}`, '/queues', '/dead', '/schedules', '/workers']) {
      await visit(opened, path)
      expect(await opened.page.locator('main').textContent(), path).not.toMatch(/-\d+(\.\d+)? (ms|s|m|h)\b|\b[45] m\b/)
    }
    await visit(opened, '/jobs?q=state:scheduled%20job:fails')
    await opened.page.getByText(/due in [1-5]?\d(\.\d)? s/).waitFor()
    await opened.context.close()
  })

  test('in another zone all pages show its time, and copies stay in UTC', async () => {
    const opened = await browser.open()
    const { page } = opened
    const [{ finishedAt }] = [await (await jobs.store()).get(id)] as [{ finishedAt: number }]
    const shownIn = (timeZone: string) =>
      new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(finishedAt)
    for (const zone of ['UTC', 'Asia/Tokyo']) {
      await visit(opened, `/jobs/${id}`)
      await page.getByRole('combobox', { name: 'Time zone' }).selectOption(zone)
      const ended = page.locator('.facts dt', { hasText: 'Ended' }).locator('+ dd time')
      expect(await ended.textContent()).toContain(shownIn(zone))
      expect(await ended.getAttribute('datetime')).toBe(new Date(finishedAt).toISOString())
      await visit(opened, '/schedules?view=day')
      const today = new Intl.DateTimeFormat('en-GB', { timeZone: zone, weekday: 'short', day: 'numeric', month: 'short' })
      await page.getByText(today.format()).first().waitFor()
    }
    await opened.context.close()
  })

  test('the theme changes while a chart is open, and with it the colours of the chart', async () => {
    const opened = await browser.open()
    const { page } = opened
    await visit(opened, '/')
    const colour = () => page.evaluate(`getComputedStyle(document.querySelector('.chart .grid text')).fill`)
    const before = await colour()
    await page.keyboard.press('t')
    await page.keyboard.press('t')
    await page.locator('html[data-theme="dark"]').waitFor()
    expect(await colour()).not.toBe(before)
    await opened.context.close()
  })
})
