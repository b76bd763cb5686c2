import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildSite } from '../scripts/site/build.mjs'
import { accessibilityProblems, hasBrowser, useBrowser } from './dashboard/browser.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'treadle-site-'))
const files = new Map<string, string>()

beforeAll(async () => {
  await buildSite(root, folder)
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  for (const entry of entries.filter(({ name }) => name.endsWith('.html'))) {
    const path = join(entry.parentPath, entry.name)
    files.set(relative(folder, path), readFileSync(path, 'utf8'))
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the site', () => {
  test('has a page for every document', () => {
    const documents = readdirSync(join(root, 'docs'), { recursive: true }).filter((name) => String(name).endsWith('.md'))
    const expected = documents.map((name) =>
      String(name)
        .replace(/README\.md$/, 'index.md')
        .replace(/md$/, 'html'),
    )
    expect(expected.filter((name) => !files.has(name))).toEqual([])
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['index.html', 'changelog.html', 'security.html', 'benchmarks.html']),
    )
  })

  test('links only to pages and sections that exist', () => {
    const broken = [...files].flatMap(([page, html]) =>
      linksOf(html)
        .filter((link) => !leadsSomewhere(page, link))
        .map((link) => `${page}: ${link}`),
    )
    expect(broken).toEqual([])
  })

  test('loads nothing from elsewhere', () => {
    const foreign = [...files].flatMap(([page, html]) =>
      [...html.matchAll(/(?:src|<link[^>]+href)="([^"]*)"/g)]
        .filter(([, url = '']) => /^(?:[a-z]+:)?\/\//.test(url))
        .map(([tag]) => `${page}: ${tag}`),
    )
    expect(foreign).toEqual([])
    expect([...files.values()].every((html) => html.includes("default-src 'none'"))).toBe(true)
  })

  test('names files without the quotes that their fences have', () => {
    expect(files.get('frameworks/express.html')).toContain('<figcaption>server.ts</figcaption>')
  })

  test('shows nothing of how the tests run an example', () => {
    expect(
      [...files.values()].filter((html) => /no-run=|stop-after=|&lt;!-- setup/.test(html.replaceAll(/<pre[\s\S]*?<\/pre>/g, ''))),
    ).toEqual([])
  })
})

describe.runIf(hasBrowser)('in a browser, opened as files', () => {
  const browser = useBrowser()
  const url = (page: string) => pathToFileURL(join(folder, page)).href

  test('the search finds failed jobs and leads there', async () => {
    const { page, context, complaints } = await browser.open()
    await page.goto(url('recipes/index.html'))
    await page.fill('#search', 'replay failed')
    await page.locator('#results a').first().waitFor()
    expect(await page.locator('#results').textContent()).toContain('replay failed jobs')
    await page.getByRole('link', { name: 'See and replay failed jobs' }).first().click()
    await page.waitForURL(/replay-failed-jobs\.html/)
    expect(complaints).toEqual([])
    await context.close()
  })

  test.each(['light', 'dark'] as const)('its %s theme can be read by everybody', async (theme) => {
    const { page, context, complaints } = await browser.open({ theme })
    await page.goto(url('getting-started.html'))
    await page.click('#theme')
    const chosen = await page.evaluate('document.documentElement.dataset.theme')
    expect(chosen).toBe(theme === 'dark' ? 'light' : 'dark')
    expect(complaints).toEqual([])
    expect(await accessibilityProblems(page)).toEqual([])
    await context.close()
  })

  test('a small screen has the navigation behind a button, and never scrolls sideways', async () => {
    const { page, context } = await browser.open({ width: 360 })
    await page.goto(url('defining-work.html'))
    expect(await page.locator('#navigation').isVisible()).toBe(false)
    await page.click('#menu')
    expect(await page.locator('#navigation').isVisible()).toBe(true)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await context.close()
  })
})

function linksOf(html: string): readonly string[] {
  return [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(folder, target))) return false
  if (anchor === undefined || anchor === '') return anchor === undefined
  return files.get(target)?.includes(`id="${anchor}"`) ?? false
}
