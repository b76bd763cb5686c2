import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, type Opened, useBrowser } from './browser.ts'
import { pages, type Sample, sampleOn } from './sample.ts'

const widths = [360, 768, 1280]
const tooWide = 'document.documentElement.scrollWidth - innerWidth'

// Whatever a page says, for as long as it says it: ages, rates, names, the state of the connection.
const texts = { words: 'Lorem ipsum dolor sit amet '.repeat(12), 'one word': 'W'.repeat(200) }

describe.skipIf(!hasBrowser)('the width of a page', () => {
  const browser = useBrowser()
  let sample: Sample
  let opened: Opened
  beforeAll(async () => {
    sample = await sampleOn('sqlite')
    opened = await browser.open()
    await opened.page.goto(sample.server.dashboardUrl() ?? '')
    await opened.page.getByRole('navigation', { name: 'Pages' }).waitFor()
  })
  afterAll(async () => {
    await opened?.context.close()
    await sample?.[Symbol.asyncDispose]()
  })

  const visit = async (path: string) => {
    await opened.page.goto(sample.origin + path)
    await opened.page.locator('main h1').first().waitFor({ state: 'attached' })
    await opened.page.locator('.loading').first().waitFor({ state: 'detached' })
  }

  const others = ['/jobs?q=nowhere', '/jobs?q=state:nonsense', '/nowhere']
  test('is that of its window, however long each of its texts is, and words are broken only if they are longer than a line', async () => {
    const jobs = Object.values(sample.ids).map((id) => `/jobs/${id}`)
    for (const path of [...pages, ...jobs, ...others]) {
      await visit(path)
      for (const width of widths) {
        await opened.page.setViewportSize({ width, height: 900 })
        expect(await opened.page.evaluate(`(${brokenWords})()`), `${path} at ${width} pixels`).toEqual([])
      }
      for (const width of widths) {
        await opened.page.setViewportSize({ width, height: 900 })
        for (const [name, text] of Object.entries(texts))
          expect(await widthWith(opened, text), `${path} at ${width} pixels, ${name}`).toBe(0)
      }
    }
  })

  test.each(widths)('of %i pixels has room for what the bar says when the page is not live', async (width) => {
    await opened.page.setViewportSize({ width, height: 900 })
    await visit('/jobs?q=state:dead')
    await opened.page.locator('.live-live').click()
    await opened.page.getByRole('button', { name: /^paused as of/ }).waitFor()
    expect(await opened.page.evaluate(tooWide)).toBe(0)
    expect(await widthWith(opened, texts['one word'])).toBe(0)
  })
})

/** Words of two lines that had room on one: only what is too long for a line may be broken. Runs in the page. */
const brokenWords = `() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const found = []
  while (walker.nextNode()) {
    const node = walker.currentNode
    if (node.parentElement.closest('.visually-hidden, .mono, .code, .log, .json, script, option') !== null) continue
    for (const { 0: word, index } of node.data.matchAll(/(?<!\\S)[a-z]{2,14}(?!\\S)/gi)) {
      const range = new Range()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word)
    }
  }
  return found
}`

/** By how many pixels the page is wider than its window if everything in it says this. */
async function widthWith({ page }: Opened, text: string): Promise<unknown> {
  return page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) if (walker.currentNode.data.trim() !== '') walker.currentNode.data = ${JSON.stringify(text)}
    return ${tooWide}
  })()`)
}
