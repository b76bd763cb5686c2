import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { entryTexts, memberTexts } from '../../../src/server/http/wire/json-text.ts'
import { verbatim, writeJson } from '../../../src/server/http/wire/verbatim.ts'

describe('the members of a JSON text', () => {
  test('are found as they were written', () => {
    const text = ' { "a" : 12345678901234567890 ,"b":"\\"},{" , "\\u0063" : [ 1 , {"d":"]"} ] ,"e":{},"f":null}\n'
    expect([...memberTexts(text)]).toEqual([
      ['a', '12345678901234567890'],
      ['b', '"\\"},{"'],
      ['c', '[ 1 , {"d":"]"} ]'],
      ['e', '{}'],
      ['f', 'null'],
    ])
  })

  test('that are there twice count as they do for JSON.parse', () => {
    expect(memberTexts('{"a":1,"a":2}').get('a')).toBe('2')
  })

  test('are those that JSON.parse finds, whatever the text is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (value, indent) => {
        const texts = memberTexts(JSON.stringify(value, null, indent))
        const parsed = [...texts].map(([name, text]) => [name, JSON.parse(text)])
        expect(parsed).toEqual(Object.entries(JSON.parse(JSON.stringify(value))))
      }),
      { seed: 1 },
    )
  })

  test('of a list are its entries', () => {
    expect(entryTexts('[]')).toEqual([])
    expect(entryTexts('[ 1.0 ,\t{"a":[2]},"x,y" ]')).toEqual(['1.0', '{"a":[2]}', '"x,y"'])
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 2), (value, indent) => {
        const texts = entryTexts(JSON.stringify(value, null, indent))
        expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { seed: 1 },
    )
  })
})

test('a text that is written as it is stands where it was put, and nothing else is changed', () => {
  const value = { a: verbatim('{ "n": 1.0 }'), b: ['plain "text"', verbatim('"x\\n"'), verbatim('9007199254740993')], c: null }
  expect(writeJson(value)).toBe('{"a":{ "n": 1.0 },"b":["plain \\"text\\"","x\\n",9007199254740993],"c":null}')
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (inner, outer) => {
      const text = writeJson({ outer, inner: verbatim(JSON.stringify(inner)) })
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ outer, inner })))
    }),
    { seed: 1 },
  )
})
