import { describe, expect, test } from 'vitest'
import { byCodePoint } from '../../src/core/text/text-order.ts'

describe('texts are ordered by their code points', () => {
  test('as the bytes of UTF-8 are', () => {
    const texts = ['', 'a', 'B', 'aa', 'ä', '\u{1f600}', '\ue000', '\uffff', '\u{10000}', 'a\u{1f600}', 'a\uff00', '\u{1f600}b']
    const byBytes = [...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect([...texts].sort(byCodePoint)).toEqual(byBytes)
    expect([...texts].sort()).not.toEqual(byBytes)
  })

  test('equal texts are equal', () => {
    expect(byCodePoint('a\u{1f600}', 'a\u{1f600}')).toBe(0)
  })
})
