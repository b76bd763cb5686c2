import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { publicExports } from '../../scripts/reference/exports.mjs'
import { referenceText } from '../../scripts/reference/text.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const entries = publicExports(root)

describe('the reference', () => {
  test('has a sentence for every public export', () => {
    const silent = entries.flatMap(({ entry, exports }) =>
      exports.filter(({ sentence }) => sentence === '').map(({ name }) => `${entry}: ${name}`),
    )
    expect(silent).toEqual([])
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
