import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitsPattern } from '../../src/core/text/name-pattern.ts'

describe('a pattern of names', () => {
  it.each([
    ['mail', 'mail', true],
    ['mail', 'mail-2', false],
    ['mail', 'Mail', false],
    ['mail-*', 'mail-2', true],
    ['mail-*', 'mail-', true],
    ['mail-*', 'mail', false],
    ['mail-*', 'e-mail-2', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['*.send', 'mail.send', true],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    ['a*a', 'a', false],
    ['a.c', 'abc', false],
    ['', '', true],
    ['', 'a', false],
  ])('%j and the name %j: %s', (pattern, name, fits) => {
    expect(fitsPattern(pattern, name)).toBe(fits)
  })

  it('fits as the regular expression does that says the same', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
    fc.assert(
      fc.property(text, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }), (pattern, name) => {
        expect(fitsPattern(pattern, name)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name))
      }),
      { seed: 1 },
    )
  })
})
