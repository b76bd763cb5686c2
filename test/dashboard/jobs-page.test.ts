import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityProblems, hasBrowser, useBrowser } from './browser.ts'
import { evil, type Sample, sampleOn, token } from './sample.ts'

describe.runIf(hasBrowser)('the page of jobs', () => {
  const browser = useBrowser()
  let sample: Sample

  beforeAll(async () => {
    sample = await sampleOn('sqlite')
  })

  afterAll(async () => {
    await sample?.[Symbol.asyncDispose]()
  })

  async function opened(width = 1280) {
    const opened = await browser.open({ width })
    const { page } = opened
    await page.goto(`${sample.origin}/login`)
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor({ state: 'attached' })
    await page.goto(`${sample.origin}/jobs?q=state:dead`)
    await page.getByRole('table').waitFor()
    return opened
  }

  test('has the columns that were chosen, after a reload too', async () => {
    const { page, context, complaints } = await opened(1_440)
    const heading = (name: string) => page.getByRole('columnheader', { name, exact: true })
    expect(await heading('group').count()).toBe(0)
    await page.getByText('Columns', { exact: true }).first().click()
    await page.getByLabel('group').check()
    await page.getByLabel('attempts').uncheck()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    expect(await page.getByLabel('group').isVisible()).toBe(false)
    await page.reload()
    await heading('group').waitFor()
    expect(await heading('attempts').count()).toBe(0)
    await page.evaluate("localStorage.setItem('treadle-columns', '{')")
    await page.reload()
    await heading('attempts').waitFor()
    expect(await heading('group').count()).toBe(0)
    expect(complaints).toEqual([])
    await context.close()
  })

  test('keeps filters under names, which are shown as texts', async () => {
    const { page, context, complaints } = await opened()
    const menu = page.getByText('Saved filters', { exact: true })
    await menu.click()
    await page.getByLabel('Name of this filter').fill(evil.slice(0, 60))
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.goto(`${sample.origin}/jobs`)
    await menu.click()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.locator('.saved-filters a').click()
    await page.waitForURL((url) => url.searchParams.get('q') === 'state:dead')
    expect(await page.locator('.saved-filters').isVisible()).toBe(false)
    await menu.click()
    await page.getByRole('button', { name: /^Forget/ }).click()
    expect(await page.locator('.saved-filters a').count()).toBe(0)
    expect(await page.title()).not.toBe('hacked')
    expect(complaints).toEqual([])
    await context.close()
  })

  test('Enter follows the link and presses the button that has the focus', async () => {
    const { page, context, complaints } = await opened()
    await page.getByRole('link', { name: 'All', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.searchParams.get('q') === null)
    await page.getByText('Columns', { exact: true }).first().focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('group').waitFor()
    await page.getByRole('button', { name: /^Theme/ }).focus()
    await page.keyboard.press('Enter')
    await page.locator('html[data-theme="light"]').waitFor()
    await page.goto(`${sample.origin}/jobs?q=state:dead`)
    await page.getByRole('table').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}/)
    expect(complaints).toEqual([])
    await context.close()
  })

  test('downloads all jobs of the filter', async () => {
    const { page, context, complaints } = await opened()
    await page.getByText('Export', { exact: true }).click()
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'JSON lines' }).click()])
    expect(download.suggestedFilename()).toBe('jobs.jsonl')
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line).state)).toEqual(lines.map(() => 'dead'))
    expect(lines.map((line) => JSON.parse(line).id)).toContain(sample.ids.dead)
    expect(complaints).toEqual([])
    await context.close()
  })

  test.each([360, 768, 1024])('shows the error of a job without scrolling sideways at %i px', async (width) => {
    const { page, context } = await opened(width)
    const error = page.getByText('The card 777 was declined')
    const box = await error.boundingBox()
    expect(box).not.toBeNull()
    if (box !== null) expect(box.x + Math.min(box.width, 100)).toBeLessThanOrEqual(width)
    await context.close()
  })
})
