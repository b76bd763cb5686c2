import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultBedrockLimits } from '../../../src/server/bedrock/limits.ts'
import type { BedrockRequest } from '../../../src/server/bedrock/wire/request.ts'
import { RequestParser } from '../../../src/server/bedrock/wire/request-parser.ts'

type Read = { method: string; verb: string; headers: Record<string, string>; body: string } | string

/** Everything that the pieces hold, as far as it can be read. */
function read(pieces: readonly (string | Buffer)[], limits: Partial<typeof defaultBedrockLimits> = {}): readonly Read[] {
  const parser = new RequestParser({ ...defaultBedrockLimits, ...limits })
  const found: Read[] = []
  for (const piece of pieces) {
    parser.add(Buffer.from(piece))
    for (let next = parser.next(); next !== undefined; next = parser.next()) {
      found.push(typeof next === 'string' ? next : plain(next))
      if (typeof next === 'string') return found
    }
  }
  return found
}

function plain({ method, verb, headers, body }: BedrockRequest): Read {
  return { method, verb, headers: Object.fromEntries(headers), body: body.toString() }
}

function headersOf(text: string): Record<string, string> {
  const [request] = read([text])
  return typeof request === 'object' ? request.headers : {}
}

describe('the end of the headers', () => {
  test.each([
    ['LF LF', 'Ping\n\n', 1],
    ['CRLF CRLF', 'Ping\r\n\r\n', 1],
    ['LF LF after CRLF lines', 'Ping\r\nname: x\r\n\n', 1],
    ['not CR CR', 'Ping\r\r', 0],
    ['not LF CRLF', 'Ping\n\r\n', 0],
  ])('%s', (_, text, count) => {
    expect(read([text])).toHaveLength(count)
  })
})

describe('the first line', () => {
  test.each([
    ['Ping\n\n', 'Ping', 'ping'],
    ['\r\n\n  \nPing\n\n', 'Ping', 'ping'],
    ['  createjob  \n\n', 'createjob', 'createjob'],
    ['CreateJob / HTTP/1.1\r\n\r\n', 'CreateJob / HTTP/1.1', 'createjob'],
    ['Query: SELECT * FROM jobs;\n\n', 'Query: SELECT * FROM jobs;', 'query:'],
    ['GetJob\n name: x\n\n', 'GetJob name: x', 'getjob'],
  ])('%j', (text, method, verb) => {
    expect(read([text])[0]).toMatchObject({ method, verb })
  })
})

describe('a header', () => {
  test.each([
    ['ends in CRLF, LFCR, LF or CR', 'a: 1\r\nb: 2\n\rc: 3\nd: 4\re: 5', { a: '1', b: '2', c: '3', d: '4', e: '5' }],
    ['has a name whose case does not count', 'NaMe: X', { name: 'X' }],
    ['has spaces around its name and its value trimmed, and no others', '  ', {}],
    ['needs no space after the colon', 'name:x', { name: 'x' }],
    ['keeps spaces and colons inside', 'name :  a  b: c  ', { name: 'a  b: c' }],
    ['keeps a tab', 'name: \tx\t', { name: '\tx\t' }],
    ['counts as it came last', 'name: a\nname: b', { name: 'b' }],
    ['may lack a colon', 'unique', { unique: '' }],
    ['goes on in a line that begins with a space', 'name: fold\n ed', { name: 'fold ed' }],
    ['goes on in a line that begins with a tab', 'name: fold\n\ted ', { name: 'fold\ted ' }],
    ['goes on unescaped', 'name: a\\tb\n c\\td', { name: 'a\tb c\\td' }],
    ['is unescaped', 'data: \\b\\f\\n\\r\\t\\"\\\\\\x', { data: '\b\f\n\r\t"\\x' }],
    ['is unescaped from code units', 'data: \\u00e9\\ud83d\\ude00\\u12', { data: 'é😀u12' }],
    ['keeps a last backslash', 'data: a\\', { data: 'a\\' }],
    ['is UTF-8', 'name: é😀', { name: 'é😀' }],
    ['may be called as members of objects are', 'constructor: x', { constructor: 'x' }],
  ])('%s', (_, text, headers) => {
    expect(headersOf(`Ping\n${text}\n\n`)).toEqual(headers)
  })
})

describe('a body', () => {
  test('is as long as Content-Length says, and what follows is the next request', () => {
    expect(read(['A\nContent-Length: 5\n\nB\n\n\nB\n\n'])).toMatchObject([{ body: 'B\n\n\nB' }])
    expect(read(['A\nContent-Length: 4\n\nB\n\n\nB\n\n'])).toMatchObject([{ body: 'B\n\n\n' }, { method: 'B' }])
  })

  test('is none without Content-Length: requests may be sent ahead', () => {
    expect(read(['A\n\nB\nx: 1\n\n\n\nC\r\n\r\n'])).toMatchObject([{ method: 'A' }, { method: 'B' }, { method: 'C' }])
  })

  test.each(['-1', 'abc', '', '1.5', '0x10', '+3', '9999999999999999999'])('has no length of %j', (length) => {
    expect(read([`A\nContent-Length: ${length}\n\nB\n\n`])).toEqual(['malformed'])
  })

  test('may come in chunks', () => {
    const chunks =
      'A\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhel\nl\r\nA\r\no, world!!\r\n0\r\nTrailer: x\r\n\r\nB\r\n\r\n'
    expect(read([chunks])).toMatchObject([{ body: 'hel\nlo, world!!' }, { method: 'B' }])
    expect(read([...chunks])).toEqual(read([chunks]))
  })

  test.each(['x\r\n', '5\r\nhelloX\r\n', `${'0'.repeat(2_000)}`, '123456789\r\n'])('has no chunk of %j', (chunk) => {
    expect(read([`A\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}\r\n`])).toEqual(['malformed'])
  })
})

describe('bounds', () => {
  test.each([
    ['the headers', `A\nx: ${'y'.repeat(200)}\n\n`],
    ['headers that never end', 'A'.repeat(200)],
    ['the number of headers', `A\n${'x\n'.repeat(20)}\n`],
    ['the body', 'A\nContent-Length: 200\n\n'],
    ['a chunk', 'A\nTransfer-Encoding: chunked\n\nFF\n'],
    ['all chunks together', `A\nTransfer-Encoding: chunked\n\n${`40\n${'x'.repeat(64)}\n`.repeat(2)}`],
    ['what follows the chunks', `A\nTransfer-Encoding: chunked\n\n0\n${'x\n'.repeat(200)}`],
  ])('%s', (_, text) => {
    expect(read([text], { headerBytes: 100, headers: 10, bodyBytes: 100 })).toEqual(['too large'])
  })

  test('blank lines before a request are no part of it', () => {
    expect(read(['\n'.repeat(500), 'A\n\n'], { headerBytes: 100 })).toMatchObject([{ method: 'A' }])
  })
})

describe('pieces', () => {
  const sample = 'CreateJob\r\nname: é😀\r\ndata: {"a":"\\\\n"}\r\nContent-Length: 3\r\n\r\nabc\n\nPing\n\nGetJob\nname: *\n\n'

  test('split at any byte, all is read the same', () => {
    const bytes = Buffer.from(sample)
    const whole = read([bytes])
    expect(whole).toHaveLength(3)
    for (let at = 0; at <= bytes.length; at++) expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole)
    expect(read(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole)
  })

  test('of any bytes, in any sizes, all is read the same', () => {
    const bits = fc.constantFrom(
      '\n',
      '\r',
      '\r\n',
      ' ',
      ':',
      'a',
      'Content-Length: 2',
      'Transfer-Encoding: chunked',
      '0',
      '\\',
      'é',
    )
    const texts = fc.array(fc.oneof(bits, fc.string({ maxLength: 3 })), { maxLength: 60 }).map((all) => all.join(''))
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (text, sizes) => {
        const bytes = Buffer.from(text)
        const pieces: Buffer[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] as number
          pieces.push(bytes.subarray(at, at + size))
          at += size
        }
        expect(read(pieces)).toEqual(read([bytes]))
      }),
      { numRuns: 3_000, seed: 1 },
    )
  })

  test('of one byte each are not searched again and again', () => {
    const parser = new RequestParser(defaultBedrockLimits)
    const bytes = Buffer.from(`A\ndata: ${'x'.repeat(1_000_000)}\n\n`)
    const found = Array.from(bytes, (byte) => {
      parser.add(Buffer.from([byte]))
      return parser.next()
    })
    expect(found.filter((next) => next !== undefined)).toEqual([found.at(-1)])
    expect(found.at(-1)).toMatchObject({ method: 'A' })
  })
})

describe('what is no text', () => {
  const tls = Buffer.from('16030100c8010000c40303', 'hex')

  test.each([
    ['the first bytes of TLS', tls],
    ['TLS behind blank lines', Buffer.concat([Buffer.from('\r\n \n'), tls])],
    ['a zero', Buffer.from([0])],
    ['a byte beyond ASCII', Buffer.from([0xff])],
    ['a digit', '1'],
  ])('%s is refused before the line ends', (_, bytes) => {
    expect(read([bytes])).toEqual(['malformed'])
  })

  test.each([
    ['a zero', 'Pi\0ng\n\nPing\n\n'],
    ['an escape', 'Ping \x1b[2J\n\nPing\n\n'],
    ['a delete', 'Ping\x7f\n\nPing\n\n'],
    ['a letter beyond ASCII', 'Píng\n\nPing\n\n'],
    ['no UTF-8', Buffer.concat([Buffer.from('Query: '), Buffer.from([0xff]), Buffer.from('\n\nPing\n\n')])],
    ['a control character in a statement', 'Query: SELECT \x01\n\nPing\n\n'],
  ])('%s in the first line ends the connection, and nothing behind it is read', (_, bytes) => {
    expect(read([bytes])).toEqual(['malformed'])
  })

  test('is not the statement of a query in another language', () => {
    expect(read(["Query: SELECT 'ü', \t'日本'\n\n"])).toMatchObject([{ verb: 'query:' }])
  })
})
