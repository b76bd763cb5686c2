import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { findPrograms, programFolders } from '../../scripts/services/programs.mjs'

const found = findPrograms([['chromium']], programFolders(process.env))

/** Debian's own; without it the tests that need a browser are skipped. */
export const hasBrowser = found !== null

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A browser for the tests of one file. */
export function useBrowser(): { readonly open: (options?: OpenOptions) => Promise<Opened> } {
  let browser: Browser | null = null
  beforeAll(async () => {
    if (found !== null) browser = await chromium.launch({ executablePath: found.chromium as string, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
  })
  return {
    open: async (options = {}) => {
      const { width = 1280, theme = 'light' } = options
      const context = await (browser as Browser).newContext({
        viewport: { width, height: 900 },
        colorScheme: theme,
        bypassCSP: false,
      })
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      return watched(context, page)
    },
  }
}

export interface OpenOptions {
  readonly width?: number
  readonly theme?: 'light' | 'dark'
}

export interface Opened {
  readonly context: BrowserContext
  readonly page: Page
  /** What the page complained about: violations of its policy, and errors that nobody caught. */
  readonly complaints: string[]
}

function watched(context: BrowserContext, page: Page): Opened {
  const complaints: string[] = []
  page.on('console', (message) => {
    const text = message.text()
    // A refusal is told by the browser too; the page shows it.
    if (message.type() === 'error' && !/Failed to load resource/.test(text)) complaints.push(text)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { context, page, complaints }
}

/** What is wrong with the page for those who do not see it, or use no mouse. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  // It is evaluated by the debugger, which no policy of the page concerns.
  await page.evaluate(axe)
  const problems = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + (failureSummary ?? '').split('\\n')[1]).join(' | ')))`)
  return problems as readonly string[]
}
