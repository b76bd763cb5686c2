import { expect, it } from 'vitest'
import { exactText, parseExact, parseVerbatim, unmarked, writeExact } from '../../src/core/text/exact-json.ts'

it('numbers that JavaScript would change come out as they came in', () => {
  for (const text of [
    '9007199254740993',
    '{"id":12345678901234567890,"list":[-9007199254740993,1],"in":{"f":0.1234567890123456789}}',
    '[1e400,-1e-400,1.7976931348623159e308]',
    '["9007199254740993","a \\" 9007199254740993",9007199254740993]',
  ])
    expect(writeExact(parseExact(text))).toBe(text)
})

it('other numbers are numbers', () => {
  expect(parseExact('{"a":1,"b":0.1,"c":1e21,"d":9007199254740992,"e":100000000000000000000,"f":-0}')).toEqual({
    a: 1,
    b: 0.1,
    c: 1e21,
    d: 9007199254740992,
    e: 1e20,
    f: -0,
  })
})

it('numbers that are to be written again keep their spelling', () => {
  for (const text of ['1.0', '[2.50,1e3,1E+3,-0,-0.0,0.1,12,9007199254740993]', '{"a":"1.0","b":{"c":[0.0]}}', '10', '"1.0"'])
    expect(writeExact(parseVerbatim(text))).toBe(text)
  expect(parseVerbatim('[0.5,12,"1.0"]')).toEqual([0.5, 12, '1.0'])
})

it('a number that is kept has its digits as its text, and no other string is changed', () => {
  const [number, text] = parseExact('[9007199254740993,"plain"]') as [string, string]
  expect(exactText(number)).toBe('9007199254740993')
  expect(exactText(text)).toBe('plain')
  expect(unmarked('"\\u0000x 1"')).toBe('"\\u0000x 1"')
})

it('what is not JSON throws as ever', () => {
  expect(() => parseExact('{"a":9007199254740993')).toThrow(SyntaxError)
  expect(() => parseExact('9007199254740993 1')).toThrow(SyntaxError)
})
