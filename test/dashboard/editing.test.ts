import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { type JobServer, serve } from '../../dist/server/index.js'
import { accessibilityProblems, hasBrowser, type Opened, useBrowser } from './browser.ts'
import { evil, largeNumber } from './sample.ts'

const readToken = 'read-token-of-the-test'
const mailToken = 'mail-token-of-the-test'

/** An address, or nothing: what is wrong is told as the schema says it. */
const address = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate: (value: unknown) => {
      const { to } = (value ?? {}) as { readonly to?: unknown }
      return typeof to === 'string' ? { value } : { issues: [{ message: 'must be an address', path: ['to'] }] }
    },
  },
}

describe.skipIf(!hasBrowser)('what is changed in a browser', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let server: JobServer
  let origin: string
  let operator: Opened
  let page: Page

  beforeAll(async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'treadle-editing-')), 'jobs.db')
    jobs = treadle(`sqlite:${path}`, { signingKey: 'a-key-for-the-test-of-the-dashboard-only' })
    jobs.define('send', { input: address }, async () => {}).queue('mail')
    jobs.declare('report')
    const tokens = [{ role: 'operate', secret: mailToken, queues: ['mail'] }] as const
    server = await serve(jobs, { port: null, httpPort: 0, token: 'admin-token-of-the-test', readToken, tokens })
    origin = `http://127.0.0.1:${server.httpAddress?.port}`
    operator = await browser.open()
    page = operator.page
    await page.goto(server.dashboardUrl() ?? '')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  })
  afterAll(async () => {
    await operator?.context.close()
    await server?.stop({ graceMs: 1_000 })
    await jobs?.close()
  })

  const visit = async (path: string) => {
    await page.goto(origin + path)
    await page.locator('main h1').first().waitFor({ state: 'attached' })
    await page.locator('.loading').first().waitFor({ state: 'detached' })
  }

  const own = { 'sec-fetch-site': 'same-origin', 'x-treadle': '1', 'content-type': 'application/json' }
  const post = (name: string, body: object, headers: Readonly<Record<string, string>>) =>
    fetch(`${origin}/-/${name}`, { method: 'POST', headers: { ...own, ...headers }, body: JSON.stringify(body) })

  /** What somebody with this token is answered who does not use the page. */
  const asked = async (token: string, name: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
    const cookie = (await post('login', { token }, {})).headers.get('set-cookie')?.split(';')[0] ?? ''
    return post(name, body, { cookie, ...headers })
  }

  test('a job is edited and run again: no digit changes, and the copy names the job that it came from', async () => {
    const payload = `{"to":"ada@example.com","order":${largeNumber},"note":${JSON.stringify(evil)}}`
    const response = await fetch(`${origin}/api/v1/jobs`, {
      method: 'POST',
      headers: { authorization: 'Bearer admin-token-of-the-test', 'content-type': 'application/json' },
      body: `{"job":"send","queue":"mail","priority":7,"tags":["vip"],"payload":${payload}}`,
    })
    const { id } = (await response.json()) as { id: string }
    await visit(`/jobs/${id}`)
    await page.getByRole('button', { name: 'Edit and run again' }).click()
    const field = page.getByLabel('Payload, as JSON')
    expect(await field.inputValue()).toContain(`"order": ${largeNumber}`)
    await field.fill((await field.inputValue()).replace('"ada@example.com"', '5'))
    await page.getByRole('button', { name: 'Run it again' }).click()
    await page.getByText('must be an address').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await field.fill('{ not json')
    await page.getByText('It cannot be read as JSON.').waitFor()
    expect(await page.getByRole('button', { name: 'Run it again' }).isDisabled()).toBe(true)
    await field.fill(payload.replace('ada@example.com', 'bob@example.com'))
    await page.getByRole('button', { name: 'Run it again' }).click()
    await page.waitForURL((url) => /\/jobs\/./.test(url.pathname) && !url.pathname.endsWith(id))
    await page.locator('dt', { hasText: 'Copy of' }).waitFor()
    const copy = page.url().split('/').at(-1) ?? ''
    const record = await (await jobs.store()).get(copy)
    expect(record).toMatchObject({ job: 'send', queue: 'mail', priority: 7, tags: ['vip'], meta: { copyOf: id } })
    expect(record?.payload).toBe(payload.replace('ada@example.com', 'bob@example.com'))
    expect(await page.title()).not.toBe('hacked')
    expect(operator.complaints).toEqual([])
  })

  test('what is encrypted or redacted is not edited, neither in the page nor past it', async () => {
    const secret = await jobs.dispatch('send', { to: 'ada', password: 'hunter2' })
    const encrypted = await jobs.dispatch('send', { to: 'ada' }, { encrypt: true })
    for (const [{ id }, why] of [
      [secret, /redacted/],
      [encrypted, /encrypted/],
    ] as const) {
      await visit(`/jobs/${id}`)
      const button = page.getByRole('button', { name: 'Edit and run again' })
      expect(await button.isDisabled()).toBe(true)
      expect(await button.getAttribute('title')).toMatch(why)
      const answer = await asked('admin-token-of-the-test', 'copy', { id, payload: '{"to":"eve"}' })
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringMatching(why)])
    }
  })

  test('those who only look see no forms, and are refused with those of other origins and other queues', async () => {
    const { id } = await jobs.dispatch('report', 1)
    const reader = await browser.open()
    await reader.page.goto(`${origin}/login`)
    await reader.page.getByLabel('Token').fill(readToken)
    await reader.page.getByRole('button', { name: 'Sign in' }).click()
    await reader.page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await reader.page.goto(`${origin}/jobs/${id}`)
    await reader.page.getByText('Why it is not running').waitFor()
    expect(await reader.page.getByRole('button', { name: 'Edit and run again' }).count()).toBe(0)
    await reader.page.goto(`${origin}/schedules?view=new`)
    await reader.page.getByRole('heading', { name: 'Schedules' }).waitFor()
    expect(await reader.page.locator('#field-key').count()).toBe(0)
    await reader.context.close()
    const draft = { key: 'x', job: 'report', kind: 'every', said: '1h', payload: '1' }
    expect((await asked(readToken, 'copy', { id, payload: '2' })).status).toBe(403)
    expect((await asked(readToken, 'schedule', draft)).status).toBe(403)
    expect((await asked(mailToken, 'copy', { id, payload: '2' })).status).toBe(404)
    expect((await asked(mailToken, 'schedule', draft)).status).toBe(403)
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await asked('admin-token-of-the-test', 'schedule', draft, foreign)).status).toBe(403)
    expect(await jobs.schedules.get('x')).toBeNull()
  })

  test('a schedule is made by a form that tells what it will do, and where a field is wrong', async () => {
    await visit('/schedules')
    await page.getByRole('link', { name: 'New schedule' }).click()
    await page.locator('#field-key').fill('acme')
    await page.locator('#field-job').fill('report')
    await page.locator('#field-said').fill('61 2 * * *')
    await page.locator('#problem-said').waitFor()
    await page.locator('#field-said').fill('30 2 * * *')
    await page.locator('#field-timezone').fill('Europe/Nowhere')
    await page.locator('#problem-timezone').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.locator('#field-timezone').fill('Europe/Paris')
    await page.getByText('At 02:30', { exact: false }).first().waitFor()
    await page
      .getByText(/and skips 02:30: the run comes at 03:00/)
      .first()
      .waitFor()
    await page.getByLabel('Payload of each run').fill(`{"n": ${largeNumber}}`)
    await page.locator('#problem-payload', { hasText: 'more digits' }).waitFor()
    await page.getByLabel('Payload of each run').fill(JSON.stringify({ note: evil }))
    await page.locator('#problem-payload').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save schedule' }).click()
    await page.getByRole('heading', { name: 'Schedule stored:acme' }).waitFor()
    expect(await jobs.schedules.get('acme')).toMatchObject({
      job: 'report',
      said: '30 2 * * *',
      timezone: 'Europe/Paris',
      payload: { note: evil },
    })
    await page.getByText('<img src=x onerror').first().waitFor()
    expect(await page.title()).not.toBe('hacked')
    expect(operator.complaints).toEqual([])
  })

  test('a stored schedule is changed, and keeps what was not said', async () => {
    await jobs.schedules.upsert('beat', { job: 'report', every: '1h', payload: { n: 1 }, overlap: 'queue' })
    await visit('/schedules/stored%3Abeat')
    await page.getByRole('link', { name: 'Change' }).click()
    await page.locator('#field-said').fill('2h')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Changed.').waitFor()
    expect(await jobs.schedules.get('beat')).toMatchObject({ said: '2h', payload: { n: 1 }, overlap: 'queue' })
  })

  test.each([
    ['light', 360],
    ['dark', 1280],
  ] as const)('the forms keep nobody out, in the %s theme at %i pixels', async (theme, width) => {
    const { id } = await jobs.dispatch('report', { n: 1 })
    const other = await browser.open({ theme, width })
    await other.page.goto(server.dashboardUrl() ?? '')
    await other.page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await other.page.goto(`${origin}/schedules?view=new`)
    await other.page.getByText('What it will do').waitFor()
    await other.page.locator('.words').waitFor()
    expect(await accessibilityProblems(other.page)).toEqual([])
    const folder = process.env.TREADLE_SCREENSHOTS
    if (folder !== undefined) await other.page.screenshot({ path: `${folder}/schedule-${theme}-${width}.png`, fullPage: true })
    expect(await other.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await other.page.goto(`${origin}/jobs/${id}`)
    await other.page.getByRole('button', { name: 'Edit and run again' }).click()
    await other.page.getByLabel('Payload, as JSON').waitFor()
    expect(await accessibilityProblems(other.page)).toEqual([])
    expect(await other.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    if (folder !== undefined) await other.page.screenshot({ path: `${folder}/editor-${theme}-${width}.png`, fullPage: true })
    await other.context.close()
  })
})
