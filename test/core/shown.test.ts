import { describe, expect, it } from 'vitest'
import { shown } from '../../src/core/text/shown.ts'

describe('a value in a few words', () => {
  it.each([
    ['3', "'3'"],
    [3, '3'],
    [5n, '5n'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('x'), 'Symbol(x)'],
    [function fail() {}, 'the function fail'],
    [{ status: 503, body: { rows: [1] } }, '{ status: 503, body: {…} }'],
    [{ toString: () => 'an answer' }, 'an answer'],
    [new Map(), 'Map {}'],
    [{}, '{}'],
    [[1, 'two', {}, [4]], "[1, 'two', {}, […]]"],
    [Object.create(null), '{}'],
    [new Array(20).fill(7), '[7, 7, 7, 7, 7, 7, 7, 7, …]'],
    ['x'.repeat(1_000), `'${'x'.repeat(200)}…'`],
    [Object.defineProperty({}, 'a', { enumerable: true, get: refuse }), 'a value of type object that has no text'],
    [{ toString: refuse }, 'a value of type object that has no text'],
  ])('%#', (value, text) => {
    expect(shown(value)).toBe(text)
  })

  it('ends, also where the value is a circle', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect(shown(circle)).toBe('{ self: {…} }')
  })
})

function refuse(): never {
  throw new Error('read me not')
}
