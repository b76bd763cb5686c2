import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { type JobServer, serve } from '../../dist/server/index.js'
import { accessibilityProblems, hasBrowser, type Opened, useBrowser } from './browser.ts'

const newYear = Date.UTC(new Date().getUTCFullYear() + 1, 0, 1)

describe.skipIf(!hasBrowser)('the calendar with a schedule each second beside one each year', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let server: JobServer
  let opened: Opened
  let origin: string

  beforeAll(async () => {
    jobs = treadle('memory:', { logger: { debug() {}, info() {}, warn() {}, error() {} } })
    jobs.define('beat', async () => {}).cron('* * * * * *')
    jobs.define('taxes', async () => {}).cron('0 12 1 1 *')
    jobs.define('backup', async () => {}).cron('0 */6 * * *')
    server = await serve(jobs, { port: null, httpPort: 0 })
    origin = `http://127.0.0.1:${server.httpAddress?.port}`
    opened = await browser.open()
    await opened.page.goto(origin)
    await opened.page.evaluate(`localStorage.setItem('treadle-zone', 'UTC')`)
  })
  afterAll(async () => {
    await opened?.context.close()
    await server?.stop({ graceMs: 1_000 })
    await jobs?.close()
  })

  const rowOf = (name: string) =>
    opened.page.locator('.calendar-row', { has: opened.page.getByRole('link', { name, exact: true }) })

  test.each([
    { view: 'day', days: 1 },
    { view: 'week', days: 7 },
  ])('draws the one as a band and the other as a mark in the $view of the new year', async ({ view, days }) => {
    const { page } = opened
    const asked = page.waitForResponse((response) => response.url().includes('/-/calendar?'))
    await page.goto(`${origin}/schedules?view=${view}&at=${newYear + 3_600_000}`)
    expect((await (await asked).body()).byteLength).toBeLessThan(100_000)
    await rowOf('beat').locator('.run-band').waitFor()
    expect(await rowOf('beat').locator('.run-mark').count()).toBe(0)
    expect(await rowOf('taxes').locator('.run-mark').count()).toBe(1)
    const mark = rowOf('taxes').locator('.run-mark')
    const at = Number.parseFloat(await mark.evaluate((element) => (element as unknown as { style: { left: string } }).style.left))
    expect(at).toBeCloseTo(50 / days, 1)
    expect(await rowOf('backup').locator('.run-mark').count()).toBe(4 * days)
    expect(await accessibilityProblems(page)).toEqual([])
    expect(opened.complaints).toEqual([])
  })

  test('says of the one each year when it runs next, also in a week in which it does not', async () => {
    const { page } = opened
    await page.goto(`${origin}/schedules?view=week&at=${newYear + 20 * 86_400_000}`)
    await rowOf('beat').locator('.run-band').waitFor()
    expect(await rowOf('taxes').locator('.run-mark').count()).toBe(0)
    await page.goto(`${origin}/schedules/taxes`)
    await page
      .locator(`time[datetime="${new Date(newYear + 43_200_000).toISOString()}"]`)
      .first()
      .waitFor()
  })
})
