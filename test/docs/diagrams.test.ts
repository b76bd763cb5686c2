import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { pictures } from '../../scripts/diagrams/pictures.mjs'

const docs = fileURLToPath(new URL('../../docs', import.meta.url))

test('the diagrams are what npm run diagrams writes', () => {
  const files = readdirSync(join(docs, 'images')).filter((name) => name.endsWith('.svg'))
  expect(files.sort()).toEqual(
    Object.keys(pictures)
      .map((name) => `${name}.svg`)
      .sort(),
  )
  for (const [name, svg] of Object.entries(pictures)) {
    expect(readFileSync(join(docs, 'images', `${name}.svg`), 'utf8'), name).toBe(svg)
  }
})

test('every diagram is shown on a page', () => {
  const pages = readdirSync(docs).filter((name) => name.endsWith('.md'))
  const text = pages.map((page) => readFileSync(join(docs, page), 'utf8')).join('\n')
  expect(Object.keys(pictures).filter((name) => !text.includes(`](images/${name}.svg)`))).toEqual([])
})
