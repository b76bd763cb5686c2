import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refuseWritten, toJson } from '../../src/core/text/json.ts'

const limits = { what: 'payload of "mail"', maxBytes: 1_000_000 }

describe('a JSON text', () => {
  it('that has a number out of range is refused as that', () => {
    const text = '{"a":[1e400]}'
    const problem = 'The payload of "mail" cannot be stored: "a[0]" is Infinity, a number out of range'
    expect(() => refuseWritten(JSON.parse(text), text, limits)).toThrow(problem)
  })

  it('reads back as the same value, for everything that JSON can hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(JSON.parse(toJson(value, limits))).toEqual(JSON.parse(JSON.stringify(value)))
        expect(toJson(value, limits)).toBe(JSON.stringify(value))
      }),
      { seed: 1 },
    )
  })

  it('leaves out properties that are undefined, as JSON does', () => {
    expect(toJson({ to: 'ada', cc: undefined }, limits)).toBe('{"to":"ada"}')
  })

  it('writes what toJSON gives: dates, URLs and values of one’s own', () => {
    const money = { amount: 5n, toJSON: () => ({ amount: '5' }) }
    expect(toJson({ at: new Date(0), link: new URL('https://example.com/a'), money }, limits)).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","link":"https://example.com/a","money":{"amount":"5"}}',
    )
  })

  it.each([
    ['a getter', Object.defineProperty({}, 'a', { enumerable: true, get: () => thrown(new Error('not now')) }), 'not now'],
    ['toJSON', { toJSON: () => thrown('a text') }, 'a text'],
    ['a proxy', new Proxy({}, { ownKeys: () => thrown(new Error('closed')) }), 'closed'],
  ])('is refused where %s throws, with what was thrown', (_, value, message) => {
    expect(() => toJson(value, limits)).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_NOT_JSON', message: expect.stringContaining(`reading it threw ${message}`) }),
    )
  })

  it('takes instances of classes and objects without a prototype by their own members', () => {
    class Mail {
      to = 'ada'
      send() {}
    }
    const bare = Object.assign(Object.create(null), { a: 1 })
    const inherited = Object.assign(Object.create({ run() {} }), { b: 2 })
    expect(toJson([new Mail(), bare, inherited], limits)).toBe('[{"to":"ada"},{"a":1},{"b":2}]')
  })

  it.each([
    ['undefined', undefined, 'it is undefined'],
    ['a function', () => 1, 'it is a function'],
    ['a symbol', Symbol('x'), 'it is a symbol'],
    ['a BigInt', 1n, 'it is a bigint'],
    ['NaN', Number.NaN, 'it is NaN'],
    ['infinity', Number.NEGATIVE_INFINITY, 'it is -Infinity'],
    ['a Map', new Map([['a', 1]]), 'it is a Map'],
    ['a Set', new Set([1]), 'it is a Set'],
    ['a promise', Promise.resolve(1), 'it is a Promise'],
    ['bytes', new Uint8Array(2), 'it is a Uint8Array'],
    ['a buffer of bytes', new ArrayBuffer(2), 'it is a ArrayBuffer'],
    ['an error', new RangeError('no'), 'it is a RangeError'],
    ['a regular expression', /x/, 'it is a RegExp'],
    ['a weak reference', new WeakRef({}), 'it is a WeakRef'],
    ['an invalid date', new Date(Number.NaN), 'it is an invalid Date'],
    ['a toJSON that gives nothing', { toJSON: () => undefined }, 'it is undefined'],
    ['undefined in a list', [1, undefined], '"[1]" is undefined'],
    ['a hole in a list', new Array(1), '"[0]" is undefined'],
    ['a BigInt inside', { a: { b: [1, { c: 1n }] } }, '"a.b[1].c" is a bigint'],
    ['a function inside', { a: { b: () => 1 } }, '"a.b" is a function'],
    ['a Map inside', { list: [new Map()] }, '"list[0]" is a Map'],
    ['what toJSON gives inside', { at: { toJSON: () => Number.NaN } }, '"at" is NaN'],
  ])('refuses %s and names it', (_, value, problem) => {
    expect(() => toJson(value, limits)).toThrow(`The payload of "mail" is not JSON: ${problem}`)
  })

  it('refuses a circle and what is nested deeper than a hundred levels', () => {
    const circle: Record<string, unknown> = { a: 1 }
    circle.self = { again: [circle] }
    expect(() => toJson(circle, limits)).toThrow('is circular or nested deeper than 100 levels')
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
    expect(toJson(nested(100), limits)).toHaveLength(201)
    expect(() => toJson(nested(101), limits)).toThrow('nested deeper than 100 levels')
  })

  it('takes the same value in two places, which is no circle', () => {
    const shared = { a: 1 }
    expect(toJson({ x: shared, y: shared }, limits)).toBe('{"x":{"a":1},"y":{"a":1}}')
  })

  it('is measured in bytes, not in characters', () => {
    const text = '€'.repeat(10)
    expect(toJson(text, { what: 'payload', maxBytes: 32 })).toBe(`"${text}"`)
    expect(() => toJson(text, { what: 'payload', maxBytes: 31 })).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_TOO_LARGE',
        message: expect.stringContaining('takes 32 bytes, more than the 31'),
      }),
    )
    expect(() => toJson('a'.repeat(30), { what: 'payload', maxBytes: 31 })).toThrow('takes 32 bytes')
    expect(toJson('a'.repeat(29), { what: 'payload', maxBytes: 31 })).toHaveLength(31)
  })

  it('is refused without being written where a few values stand in it again and again', () => {
    let nested: unknown[] = []
    for (let level = 0; level < 60; level++) nested = [nested, nested]
    const long = 'x'.repeat(100_000)
    const named = { ['key'.repeat(10_000)]: 1 }
    for (const value of [nested, Array.from({ length: 1_000_000 }, () => long), Array.from({ length: 1_000_000 }, () => named)])
      expect(() => toJson(value, { what: 'result', maxBytes: 1_000 })).toThrow(
        expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('more than 8000 bytes') }),
      )
  })

  it('is refused with the code that the caller chose', () => {
    expect(() => toJson(1n, { ...limits, invalid: 'RESULT_INVALID' })).toThrow(
      expect.objectContaining({ code: 'RESULT_INVALID' }),
    )
    expect(() => toJson(1n, limits)).toThrow(expect.objectContaining({ code: 'PAYLOAD_NOT_JSON' }))
  })

  it('never changes in silence: what it writes of any value reads back equal, or it refuses', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      maxDepth: 3,
    })
    fc.assert(
      fc.property(anything, (value) => {
        let text: string
        try {
          text = toJson(value, limits)
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'PAYLOAD_NOT_JSON' })
          return
        }
        expect(JSON.parse(text)).toEqual(plain(value))
      }),
      { seed: 1 },
    )
  })
})

/** The value as JSON understands it: dates are texts, 0 has no sign, properties that are undefined are not there. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (Object.is(value, -0)) return 0
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.map(([key, member]) => [key, plain(member)]))
}

function thrown(what: unknown): never {
  throw what
}
