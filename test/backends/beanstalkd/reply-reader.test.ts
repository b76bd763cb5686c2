import { describe, expect, test } from 'vitest'
import { ReplyReader } from '../../../src/engines/beanstalkd/connection/reply-reader.ts'

const body = Buffer.from([0, 13, 10, 255, 79, 75, 32, 49, 13, 10])
const stream = Buffer.concat([
  Buffer.from(`INSERTED 7\r\nRESERVED 8 ${body.length}\r\n`),
  body,
  Buffer.from('\r\nOK 0\r\n\r\nTIMED_OUT\r\n'),
])
const expected = [
  { word: 'INSERTED', args: ['7'], body: null },
  { word: 'RESERVED', args: ['8', '10'], body },
  { word: 'OK', args: ['0'], body: Buffer.alloc(0) },
  { word: 'TIMED_OUT', args: [], body: null },
]

describe('answers of Beanstalkd', () => {
  test('are read as they are, wherever the network cuts them, and bodies byte by byte', () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const reader = new ReplyReader()
      expect([...reader.read(stream.subarray(0, cut)), ...reader.read(stream.subarray(cut))]).toEqual(expected)
    }
    const reader = new ReplyReader()
    expect([...stream].flatMap((byte) => reader.read(Buffer.from([byte])))).toEqual(expected)
  })

  test.each([
    ['HTTP/1.1 400 Bad Request\n', 'CR LF'],
    ['OK nonsense\r\n', 'without a size'],
    ['OK 2\r\nabcd', 'without its end'],
    ['x'.repeat(2_000), 'without an end'],
  ])('of a server that is none are refused: %j', (text, why) => {
    expect(() => new ReplyReader().read(Buffer.from(text))).toThrow(why)
  })
})
