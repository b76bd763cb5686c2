import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = readdirSync(join(root, 'docs/frameworks')).filter((name) => name !== 'README.md')

describe('the page about a framework', () => {
  test.each(pages)('%s shows the files of its example as they are', (page) => {
    const text = readFileSync(join(root, 'docs/frameworks', page), 'utf8')
    const fences = [...text.matchAll(/^```(?:tsx?|js)(?: file="(.+)")?\n([\s\S]*?)^```$/gm)]
    expect(fences.length).toBeGreaterThan(1)
    for (const [, file = 'a block without a file', code] of fences) {
      const example = join(root, 'examples', page.replace(/\.md$/, ''), file)
      expect(code, file).toBe(readFileSync(example, 'utf8'))
    }
  })

  test('is in the list of frameworks', () => {
    const list = readFileSync(join(root, 'docs/frameworks/README.md'), 'utf8')
    expect(pages.filter((page) => !list.includes(`(${page})`))).toEqual([])
  })
})
