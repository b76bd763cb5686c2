import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { publicExports } from '../../scripts/reference/exports.mjs'
import { guideOf } from '../../scripts/reference/guides.mjs'
import { referenceText } from '../../scripts/reference/text.mjs'
import { anchorOf } from '../../scripts/site/markdown.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const entries = publicExports(root)

describe('the reference', () => {
  test('has a sentence for every public export', () => {
    const silent = entries.flatMap(({ entry, exports }) =>
      exports.filter(({ sentence }) => sentence === '').map(({ name }) => `${entry}: ${name}`),
    )
    expect(silent).toEqual([])
  })

  test('has a guide with examples for every public export', () => {
    const without = entries.flatMap(({ entry, exports }) =>
      exports.filter(({ guide }) => !explains(guide)).map(({ name, guide }) => `${entry}: ${name} (${guide})`),
    )
    expect(without).toEqual([])
    expect([guideOf('src/nowhere/else.ts'), explains('defining-work.md#no-such-section'), explains('glossary.md')]).toEqual([
      null,
      false,
      false,
    ])
  })

  test('is what the types say: npm run reference writes it', () => {
    expect(readFileSync(join(root, 'docs/reference.md'), 'utf8')).toBe(referenceText(entries))
  })

  test('knows all entry points of the package', () => {
    const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const declared = Object.keys(exports).filter((path) => !path.endsWith('.json'))
    expect(entries.map(({ entry }) => entry)).toEqual(declared.map((path) => path.replace(/^\./, name)))
    expect(entries.every((entry) => entry.exports.length > 0)).toBe(true)
  })
})

/** Whether the page exists, has the section, and shows code in it or elsewhere on the page. */
function explains(guide: string | null): boolean {
  const [page = '', section] = (guide ?? '').split('#')
  if (page === '') return false
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  const sections = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading))
  return text.includes('\n```') && (section === undefined || sections.includes(section))
}
