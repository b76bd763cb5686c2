import { describe, expect, it } from 'vitest'
import { writtenReason } from '../../src/core/text/reason.ts'

describe('the reason of a failure, as it is written down', () => {
  it('is the message of what was thrown, and then of what caused it', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:80'), { code: 'ECONNREFUSED' })
    const { message, code, stack } = writtenReason(new TypeError('fetch failed', { cause: refused }))
    expect({ message, code }).toEqual({ message: 'fetch failed: connect ECONNREFUSED 127.0.0.1:80', code: undefined })
    expect(stack).toMatch(
      /^TypeError: fetch failed\n {4}at (.|\n)*\ncaused by: Error: connect ECONNREFUSED 127.0.0.1:80\n {4}at /,
    )
  })

  it('names all errors that one stands for, and leaves out one that says nothing itself', () => {
    const both = [new Error('connect ECONNREFUSED ::1:80'), new Error('connect ECONNREFUSED 127.0.0.1:80')]
    const texts = 'connect ECONNREFUSED ::1:80; connect ECONNREFUSED 127.0.0.1:80'
    expect(writtenReason(new AggregateError(both, 'none answered')).message).toBe(`none answered: ${texts}`)
    expect(writtenReason(new TypeError('fetch failed', { cause: new AggregateError(both) })).message).toBe(
      `fetch failed: ${texts}`,
    )
  })

  it('says nothing twice', () => {
    const full = new Error('the disk is full')
    expect(writtenReason(new Error('a.db: the disk is full', { cause: full })).message).toBe('a.db: the disk is full')
    expect(writtenReason(new AggregateError([full, new Error('the disk is full')], 'no')).message).toBe('no: the disk is full')
  })

  it.each<[string, unknown, object]>([
    ['an object', { message: 'duplicate key', code: '23505' }, { message: 'duplicate key', code: '23505' }],
    ['an object without a message', { status: 503 }, { message: 'thrown: { status: 503 }' }],
    ['a text', 'no', { message: 'no' }],
    ['nothing', undefined, { message: 'thrown: undefined' }],
    ['an object with a cause', { message: 'no', cause: 'why' }, { message: 'no: why', stack: 'no\ncaused by: why' }],
  ])('is told of %s', (_, thrown, reason) => {
    expect(writtenReason(thrown)).toEqual(reason)
  })

  it('ends where causes are a circle or many, and is never long', () => {
    const one = new Error('one')
    const other = new Error('other', { cause: one })
    one.cause = other
    expect(writtenReason(one).message).toBe('one: other')
    let deep = new Error('0')
    for (let depth = 1; depth <= 1_000; depth++) deep = new Error(`${depth} ${'x'.repeat(5_000)}`, { cause: deep })
    const { message, stack } = writtenReason(deep)
    expect([message.length, stack?.length]).toEqual([2_000, 8_000])
    const errors = Array.from({ length: 1_000 }, (_, index) => new Error(`no ${index}`))
    expect(writtenReason(new AggregateError(errors, 'all')).message).toBe(
      'all: no 0; no 1; no 2; no 3; no 4; no 5; no 6; no 7; no 8',
    )
  })

  it('has room for the cause behind a long stack', () => {
    const long = new Error('long', { cause: new Error('the cause') })
    long.stack = 'x'.repeat(100_000)
    expect(writtenReason(long).stack).toContain('caused by: Error: the cause')
  })

  it.each(['message', 'stack', 'code', 'cause', 'errors'])('is told where %s cannot be read', (property) => {
    const get = () => {
      throw new Error('read me not')
    }
    const thrown = Object.defineProperty(new AggregateError([], 'no'), property, { get })
    expect(writtenReason(thrown).message).toMatch(/^no$|that has no text/)
  })
})
