import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../dist/index.js'
import { hasBrowser, type Opened, useBrowser } from './browser.ts'
import { type Mounted, mounted, silent, visit } from './mounted.ts'

const patience = { timeout: 60_000 }

/** Nothing in this file clicks. */
describe.skipIf(!hasBrowser)('with the keyboard alone', () => {
  const browser = useBrowser()
  let jobs: Treadle
  let shown: Mounted
  let opened: Opened
  let page: Page

  beforeAll(async () => {
    jobs = treadle('memory:', { logger: silent })
    shown = await mounted(jobs)
    opened = await browser.open()
    page = opened.page
  })
  afterAll(async () => {
    await opened?.context.close()
    await shown?.[Symbol.asyncDispose]()
    await jobs?.close()
  })

  /** Goes on until something of this name has the focus. */
  const tabTo = async (name: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab') => {
    for (let steps = 0; steps < 100; steps++) {
      await page.keyboard.press(key)
      const focused = await page.evaluate(
        `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText).trim()`,
      )
      if (name.test(String(focused))) return
    }
    throw new Error(`Tab leads to nothing called ${name}`)
  }

  const focusedText = () => page.evaluate(`document.activeElement.innerText.trim()`)

  test('a group of failed jobs is retried, and the dialog begins at Cancel and gives the focus back', async () => {
    const charge = jobs.define('charge', async () => {
      throw new Error('declined')
    })
    await jobs.dispatchMany(charge, [undefined, undefined])
    await jobs.run()
    await visit(page, `${shown.origin}/dead`)
    await page.keyboard.press('j')
    await tabTo(/^Retry …/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    expect(await focusedText()).toBe('Cancel')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(await focusedText()).toMatch(/^Retry …/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Tab')
    expect(await focusedText()).toBe('Retry 2 jobs')
    await page.keyboard.press('Enter')
    await page.getByText('2 jobs put back').waitFor()
    expect(await (await jobs.store()).list({ state: 'ready', limit: 10 })).toHaveLength(2)
  })

  test('a job that waits is cancelled, and one that failed is edited and run again', async () => {
    const [waiting] = await (await jobs.store()).list({ state: 'ready', limit: 1 })
    await visit(page, `${shown.origin}/jobs/${waiting?.id}`)
    await page.keyboard.press('c')
    await page.locator('.page-head .state-cancelled').waitFor()
    await page.keyboard.press('e')
    await page.getByLabel('Payload, as JSON').waitFor()
    await tabTo(/^$/)
    await page.keyboard.press('Control+A')
    await page.keyboard.type('{"n": 12}')
    await tabTo(/^Run it again$/)
    await page.keyboard.press('Enter')
    await page.locator('dt', { hasText: 'Copy of' }).waitFor()
    expect((await (await jobs.store()).get(page.url().split('/').at(-1) ?? ''))?.payload).toBe('{"n": 12}')
  })

  test('a refusal is read aloud, and leads to the job that is in the way', async () => {
    jobs.declare('once')
    const first = await jobs.dispatch('once', {}, { unique: 'key', delay: '1h' })
    await first.cancel()
    const second = await jobs.dispatch('once', {}, { unique: 'key', delay: '1h' })
    await visit(page, `${shown.origin}/jobs/${first.id}`)
    await page.keyboard.press('r')
    await page.getByRole('status').getByText('has its unique key').waitFor()
    const { id } = second
    await tabTo(new RegExp(`^${id.slice(0, 4)}…${id.slice(-4)}$`))
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/jobs/${id}`)
  })

  test('jobs are selected in a range of rows, and deleted after their number was typed', async () => {
    const before = (await (await jobs.store()).list({ limit: 100 })).length
    await visit(page, `${shown.origin}/jobs`)
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
    await page.getByText('2 selected').waitFor()
    await tabTo(/^Delete …$/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await tabTo(/^$/)
    await page.keyboard.type('2')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await (await jobs.store()).list({ limit: 100 })).length, patience).toBe(before - 2)
  })

  test('Back leads to the list as it was filtered', async () => {
    await visit(page, `${shown.origin}/jobs?q=state:ready`)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/jobs\/[0-9a-f-]+$/)
    await page.goBack()
    await page.waitForURL('**/jobs?q=state:ready')
    await page.locator('tbody .state-ready').first().waitFor()
    expect(opened.complaints).toEqual([])
  })
})
