import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadDriver } from '../../../src/engines/sqlite/file/driver.ts'
import { glob } from '../../../src/server/jobs/glob.ts'

describe('a pattern of names', () => {
  test.each([
    ['Foo*', 'FooBar', true],
    ['Foo*', 'foobar', false],
    ['*', '', true],
    ['?', '😀', true],
    ['?', '', false],
    ['[a-c]x', 'bx', true],
    ['[^a-c]x', 'bx', false],
    ['[]]', ']', true],
    ['[^]]', 'a', true],
    ['[a-]', '-', true],
    ['[-a]', '-', true],
    ['a[', 'a[', false],
    ['www-prod/*', 'www-prod/SendEmail', true],
    ['foo,', 'foo', false],
    ['a.c', 'abc', false],
  ])('%s and %s: %s', (pattern, text, isMatch) => {
    expect(glob(pattern)(text)).toBe(isMatch)
  })

  test('fits what SQLite says that it fits', async () => {
    const DatabaseSync = await loadDriver()
    const database = new DatabaseSync(':memory:')
    const asked = database.prepare('SELECT ? GLOB ? AS fits')
    const sqliteGlob = (text: string, pattern: string) => (asked.get(text, pattern) as { fits: number }).fits === 1
    const letters = fc.constantFrom('a', 'b', 'c', 'B', '-', ']', '[', '^', '*', '?', 'é', '😀', '/')
    const texts = fc.array(letters, { maxLength: 10 }).map((all) => all.join(''))
    try {
      fc.assert(
        fc.property(texts, texts, (text, pattern) => {
          expect(glob(pattern)(text)).toBe(sqliteGlob(text, pattern))
        }),
        { numRuns: 20_000, seed: 1 },
      )
    } finally {
      database.close()
    }
  })

  test('takes no time that grows beyond bounds, however many stars it has', () => {
    const name = 'a'.repeat(255)
    expect(glob(`${'*a'.repeat(100)}b`)(name)).toBe(false)
    expect(glob('*a'.repeat(255))(name)).toBe(true)
  })
})
