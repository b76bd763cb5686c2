import { describe, expect, it } from 'vitest'
import { parseByteSize } from '../../src/core/text/byte-size.ts'

describe('a size in bytes', () => {
  it.each([
    [0, 0],
    [1_000.4, 1_000],
    ['17b', 17],
    ['2kb', 2_048],
    ['256mb', 268_435_456],
    ['1.5GB', 1_610_612_736],
  ])('reads %s as %d', (value, bytes) => {
    expect(parseByteSize(value, 'memory')).toBe(bytes)
  })

  it.each([[''], ['256'], ['mb'], ['-1mb'], ['1 mb'], ['1tb'], [-1], [Number.NaN], [null], [{}]])('refuses %j', (value) => {
    expect(() => parseByteSize(value as never, 'memory')).toThrow(/^memory must be a number of bytes or a string such as '64mb'/)
  })
})
