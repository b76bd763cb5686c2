import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/cli/failure.ts'
import { parseJsonText } from '../../src/cli/json-text.ts'

describe('JSON that a person wrote', () => {
  it.each(['{"a":[1,-2.5e3,"x\\n",true,null]}', ' 1 ', '"text"', '[]', '{}'])('is read: %s', (text) => {
    expect(parseJsonText(text, 'the payload')).toEqual(JSON.parse(text))
  })

  it.each([
    ['{a:1}', 'expected a property name in double quotes or "}" at line 1, column 2, found "a:1}"'],
    ["{'a':1}", 'expected a property name in double quotes or "}" at line 1, column 2, found "\'a\':1}"'],
    ['{"a":1,}', 'expected a property name in double quotes at line 1, column 8, found "}"'],
    ['[1,2,]', 'expected a value at line 1, column 6, found "]"'],
    ['{"a" 1}', 'expected ":" at line 1, column 6, found "1}"'],
    ['{"a":1', 'expected "," or "}" at line 1, column 7, where the text ends'],
    ['[1 2]', 'expected "," or "]" at line 1, column 4, found "2]"'],
    ['{}}', 'expected the end at line 1, column 3, found "}"'],
    ['hello', 'expected a value at line 1, column 1, found "hello"'],
    ['', 'expected a value at line 1, column 1, where the text ends'],
    ['01', 'expected a value at line 1, column 1, found "01"'],
    ['[NaN]', 'expected a value or "]" at line 1, column 2, found "NaN]"'],
    ['{\n  "a": 1,\n  "b": tru\n}', 'expected a value at line 3, column 8, found "tru }"'],
    ['["a\nb"]', 'expected a value or "]" at line 1, column 2, found ""a b"]"'],
    ['["\\x"]', 'expected a value or "]" at line 1, column 2, found ""\\x"]"'],
    ['[1}', 'expected "," or "]" at line 1, column 3, found "}"'],
  ])('is refused with the place of the mistake: %j', (text, message) => {
    expect(() => parseJsonText(text, 'the payload')).toThrow(new UsageError(`the payload is not JSON: ${message}`))
  })
})
