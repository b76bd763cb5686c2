import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { type Dashboard, dashboard } from '../../dist/server/dashboard/index.js'
import { accessibilityProblems, hasBrowser, type Opened, useBrowser } from './browser.ts'

const endless = 'j'.repeat(128)
const names = [endless, 'שלום עולם', 'family 👩‍👩‍👧‍👦🚀', '日本語の仕事', '<b>bold</b> %2F..%2F', '\u202eesrever']
const levels = 100

describe.skipIf(!hasBrowser)('jobs with odd names and contents', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let shown: Dashboard
  let server: Server
  let origin: string
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    jobs = treadle('memory:', { logger: { debug() {}, info() {}, warn() {}, error() {} } })
    for (const name of names) {
      jobs.define(name, async () => {
        throw new Error(`${name} ${'x'.repeat(5_000)}`)
      })
      await jobs.dispatch(name, null, { group: endless.slice(0, 100), tags: [endless.slice(0, 100)] })
    }
    const failing = jobs
      .define('fails often', async (_: unknown, ctx) => {
        for (let line = 0; line < 20; line++) ctx.log(`attempt ${ctx.attempt}, line ${line}`)
        throw deepError(200)
      })
      .retries(49, { base: 0, jitter: 'none' })
    ids.often = (await failing.dispatch({})).id
    await jobs.run()
    void jobs.work({ signals: false })
    // No worker has a handler, so it waits.
    jobs.declare(`${endless.slice(1)}w`)
    await jobs.dispatch(`${endless.slice(1)}w`, null)
    const large = jobs.define('large', async (_: unknown) => {})
    ids.deep = (await large.dispatch(JSON.parse('['.repeat(levels) + ']'.repeat(levels)), { delay: '1h' })).id
    ids.wide = (await large.dispatch({ text: 'x'.repeat(900_000) }, { delay: '1h' })).id
    ids.empty = (await large.dispatch('', { delay: '1h' })).id
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

  test.each([360, 768, 1280])('no page is wider than a window of %i pixels', async (width) => {
    const opened = await browser.open({ width })
    const pages = ['/', '/jobs', '/jobs?q=state:dead', '/queues', '/queues/default', '/dead', '/schedules', '/workers']
    for (const path of [...pages, ...Object.values(ids).map((id) => `/jobs/${id}`)]) {
      await visit(opened, path)
      expect(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBeLessThanOrEqual(0)
    }
    expect(opened.complaints).toEqual([])
    await opened.context.close()
  })

  test('an emoji of several parts is one sign, and what turns a text around is a number', async () => {
    const opened = await browser.open()
    await visit(opened, '/jobs?q=state:dead')
    await opened.page.getByRole('link', { name: 'family 👩‍👩‍👧‍👦🚀' }).first().waitFor()
    await opened.page.getByRole('link', { name: '\\u202eesrever' }).first().waitFor()
    await opened.context.close()
  })

  test('fifty attempts with two hundred frames and a thousand log lines are one page that answers', async () => {
    const opened = await browser.open()
    await visit(opened, `/jobs/${ids.often}`)
    await opened.page.getByRole('heading', { name: 'Attempts: 50 of 50' }).waitFor()
    await opened.page.locator('.log-line').first().waitFor()
    expect(await opened.page.locator('details.attempt[open]').count()).toBe(1)
    expect(await accessibilityProblems(opened.page)).toEqual([])
    expect(opened.complaints).toEqual([])
    await opened.context.close()
  })

  test('a payload of a hundred levels opens level by level, and an empty one is shown as that', async () => {
    const opened = await browser.open()
    await visit(opened, `/jobs/${ids.deep}`)
    expect(await opened.page.locator('.json details[open]').count()).toBe(3)
    await visit(opened, `/jobs/${ids.empty}`)
    await opened.page.locator('.json', { hasText: '""' }).waitFor()
    await opened.context.close()
  })

  test('on paper, in forced colours and without motion nothing is lost', async () => {
    const opened = await browser.open({ width: 768 })
    await visit(opened, '/')
    for (const media of [{ media: 'print' }, { forcedColors: 'active' }, { reducedMotion: 'reduce' }] as const) {
      await opened.page.emulateMedia({ media: null, forcedColors: null, reducedMotion: null })
      await opened.page.emulateMedia(media)
      expect(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      expect(await opened.page.locator('.verdict').isVisible()).toBe(true)
    }
    await opened.context.close()
  })
})

/** Its stack has this many frames. */
function deepError(frames: number): Error {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = frames
  const error = frame(frames)
  Error.stackTraceLimit = limit
  return error
}

function frame(left: number): Error {
  return left === 0 ? new Error('deep') : frame(left - 1)
}
