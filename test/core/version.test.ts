import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { version } from '../../src/core/version.ts'

it('the version that a worker tells of itself is the package’s', () => {
  const { version: packed } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(version).toBe(packed)
})
