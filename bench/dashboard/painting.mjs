// How long a page takes in Chromium until nothing more is painted.
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path))

/** The times of both dashboards in milliseconds, asked in turn. */
export async function paintedIn(one, other, name, rounds) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const times = [[], []]
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { address, pages }] of [one, other].entries()) {
      const ms = await painted(browser, address + pages[name][1])
      // The first ones warm up.
      if (round > 0) times[index].push(ms)
    }
  }
  await browser.close()
  return times
}

async function painted(browser, url) {
  const context = await browser.newContext()
  const page = await context.newPage()
  const start = performance.now()
  await page.goto(url)
  await page.locator('main h1').first().waitFor({ state: 'attached' })
  await page.locator('.loading').first().waitFor({ state: 'detached' })
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  const ms = performance.now() - start
  await context.close()
  return ms
}
