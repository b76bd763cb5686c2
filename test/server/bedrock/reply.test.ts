import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { replyText } from '../../../src/server/bedrock/wire/reply.ts'
import { RawJson, wireObject, wireValue } from '../../../src/server/bedrock/wire/wire-values.ts'

describe('a reply', () => {
  test('has CRLF everywhere, its headers in alphabetical order and its length last', () => {
    const headers = { nodeName: 'ref', totalTime: '20', commitCount: '2', Connection: 'close' }
    expect(replyText({ code: 200, text: 'OK', headers, body: '{"jobID":1}' })).toBe(
      '200 OK\r\ncommitCount: 2\r\nConnection: close\r\nnodeName: ref\r\ntotalTime: 20\r\nContent-Length: 11\r\n\r\n{"jobID":1}',
    )
  })

  test('has a length also where there is nothing', () => {
    expect(replyText({ code: 404, text: 'No job found' })).toBe('404 No job found\r\nContent-Length: 0\r\n\r\n')
  })

  test('counts its length in bytes', () => {
    expect(replyText({ code: 200, text: 'OK', body: 'é😀' })).toContain('Content-Length: 6\r\n')
  })

  test('speaks HTTP to those who check its health', () => {
    expect(replyText({ code: 200, text: 'LEADING', http: true })).toBe('HTTP/1.1 200 LEADING\r\nContent-Length: 0\r\n\r\n')
  })

  test('lets no value begin a line of its own', () => {
    const reply = replyText({ code: 402, text: 'Bad\r\nquery', headers: { error: 'a\nContent-Length: 9' } })
    expect(reply).toBe('402 Bad\\r\\nquery\r\nerror: a\\nContent-Length: 9\r\nContent-Length: 0\r\n\r\n')
  })
})

describe('a value on the wire', () => {
  test.each([
    ['12345', '12345'],
    ['-1', '-1'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9223372036854775808', '"9223372036854775808"'],
    ['007', '"007"'],
    ['-0', '"-0"'],
    ['1.5', '"1.5"'],
    ['True', 'true'],
    ['NULL', 'null'],
    ['[1,2]', '[1,2]'],
    ['{"b" : 1, "a":"x/y"}', '{"b" : 1, "a":"x/y"}'],
    ['{"b":}', '"{\\"b\\":}"'],
    ['[1}', '"[1}"'],
    ['', '""'],
    ['a/b', '"a\\/b"'],
    ['é\n"', '"é\\n\\""'],
    [' 1', '" 1"'],
  ])('of the text %j is %s', (text, written) => {
    expect(wireValue(text)).toBe(written)
  })

  test('of other kinds', () => {
    expect(wireObject({ none: null, many: [1, 'a', [true]], inner: { b: '1', A: 2n }, data: new RawJson('{"u":"a/b"}') })).toBe(
      '{"data":{"u":"a/b"},"inner":{"A":2,"b":1},"many":[1,"a",[true]],"none":""}',
    )
  })

  test('is JSON, whatever the text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => void JSON.parse(wireValue(text))),
      { seed: 1 },
    )
  })
})
