import { describe, expect, test } from 'vitest'
import { literal, mostCharactersPerUnit } from '../../../src/engines/mysql/statements/literals.ts'

describe('a text in a statement', () => {
  test('is ASCII without a backslash, and has a quote at each end alone, whatever it holds', () => {
    for (let unit = 0; unit < 0x1_00_00; unit++) {
      const text = `a${String.fromCharCode(unit)}b`
      expect(literal(text)).toMatch(/^(?:'[ -&(-[\]-~]*'|_utf8mb4 X'[0-9a-f]*')$/)
    }
  })

  test('stands as it is where it is plain, as nearly all are', () => {
    expect(literal('{"to":"a@example.com","n":[1,2]}')).toBe(`'{"to":"a@example.com","n":[1,2]}'`)
    expect(literal('')).toBe("''")
  })

  test.each(["'", '\\', '\0', 'ħ', '€', '🙂'])(
    'is said by its bytes where it has a %j, of which no unit takes more than was said',
    (text) => {
      const written = literal(text)
      expect(written).toBe(`_utf8mb4 X'${Buffer.from(text).toString('hex')}'`)
      expect(literal(text.repeat(2)).length - written.length).toBeLessThanOrEqual(text.length * mostCharactersPerUnit)
    },
  )
})
