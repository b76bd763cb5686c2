import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { type JobServer, serve } from '../../dist/server/index.js'
import { accessibilityProblems, hasBrowser, type Opened, useBrowser } from './browser.ts'
import { mailToken, token } from './sample.ts'

describe.skipIf(!hasBrowser)('a job whose unique key another one holds', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let server: JobServer
  let opened: Opened
  let origin: string

  beforeAll(async () => {
    jobs = treadle('memory:', { logger: { debug() {}, info() {}, warn() {}, error() {} } })
    jobs.define('send', async () => {}).queue('mail')
    const tokens = [{ role: 'operate', secret: mailToken, queues: ['mail'] }] as const
    server = await serve(jobs, { port: null, httpPort: 0, token, tokens })
    origin = `http://127.0.0.1:${server.httpAddress?.port}`
    opened = await browser.open()
    await opened.page.goto(server.dashboardUrl() ?? '')
    await opened.page.getByRole('navigation', { name: 'Pages' }).waitFor()
  })
  afterAll(async () => {
    await opened?.context.close()
    await server?.stop({ graceMs: 1_000 })
    await jobs?.close()
  })

  /** One that was cancelled, and another one that has taken its key since. */
  const heldKey = async (unique: string, queue: string) => {
    const first = await jobs.dispatch('send', {}, { unique, delay: '1h' })
    await first.cancel()
    const second = await jobs.dispatch('send', {}, { unique, delay: '1h', queue })
    return { first, second }
  }

  test('is not put back, and the refusal leads to the one that holds it', async () => {
    const { page } = opened
    const { first, second } = await heldKey('a', 'mail')
    await page.goto(`${origin}/jobs/${first.id}`)
    await page.getByRole('button', { name: 'Retry' }).click()
    const refusal = page.locator('.message.refused')
    await refusal.getByText('has its unique key').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await refusal.getByTitle(second.id).click()
    await page.waitForURL(`${origin}/jobs/${second.id}`)
    expect(await first.state()).toBe('cancelled')
  })

  test('is counted with all others that are left alone for the same reason', async () => {
    const { page } = opened
    for (const key of ['b', 'c']) await heldKey(key, 'mail')
    await page.goto(`${origin}/jobs?q=state:cancelled`)
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).click()
    await page.getByRole('button', { name: 'Retry' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Retry/ })
      .click()
    await page.getByText('3 left alone: Job was left alone: another job has its unique key').waitFor()
  })

  test('does not tell those who may not see the holder which one it is', async () => {
    const { first, second } = await heldKey('d', 'secret')
    const retry = async (secret: string) => {
      const response = await fetch(`${origin}/api/v1/jobs/${first.id}/retry`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}` },
      })
      return ((await response.json()) as { readonly detail: string }).detail
    }
    expect(await retry(mailToken)).toBe(`Job ${first.id} was left alone: another job has its unique key`)
    expect(await retry(token)).toBe(`Job ${first.id} was left alone: job ${second.id} has its unique key`)
  })
})
