import { describe, expect, it } from 'vitest'
import { errorCodes, messageOf, PermanentError, TreadleError } from '../../src/core/errors.ts'

describe('an error of the library', () => {
  it('has a code, a message, a name and its cause', () => {
    const cause = new Error('no such file')
    const error = new TreadleError('CONFIG_NOT_FOUND', 'Run "treadle init"', { cause })
    expect(error).toMatchObject({ name: 'TreadleError', code: 'CONFIG_NOT_FOUND', message: 'Run "treadle init"', cause })
    expect(error).toBeInstanceOf(Error)
    expect(new PermanentError('gone').name).toBe('PermanentError')
  })

  it('shows what a terminal would act on in a name that it quotes', () => {
    const { message } = new TreadleError('JOB_UNKNOWN', 'No job is defined as "\u001b[31mred\u202e"')
    expect(message).toBe('No job is defined as "␛[31mred\\u202e"')
  })

  it('quotes no more of a name than anyone reads', () => {
    const { message } = new TreadleError('JOB_UNKNOWN', `No job is defined as "${'x'.repeat(1_000_000)}"`)
    expect(message).toMatch(/^No job is defined as "x{9000,}… \(1000023 characters\)$/)
  })

  it('has one of the codes that are listed once, in order', () => {
    expect([...errorCodes]).toEqual([...new Set(errorCodes)].sort())
  })
})

describe('the message of what was thrown', () => {
  it.each([
    [new Error('disk full'), 'disk full'],
    [new TypeError(''), 'TypeError'],
    ['a text', 'a text'],
    [undefined, 'thrown: undefined'],
    [null, 'thrown: null'],
    [7, 'thrown: 7'],
    [Symbol('x'), 'thrown: Symbol(x)'],
    [{ toString: () => 'an answer' }, 'thrown: an answer'],
    [Object.create(null), 'thrown: {}'],
    [{ message: 'duplicate key', code: '23505' }, 'duplicate key'],
    [{ status: 503 }, 'thrown: { status: 503 }'],
    [Object.assign(new Error('x'), { message: { status: 503 } }), '{ status: 503 }'],
  ])('of %#', (thrown, message) => {
    expect(messageOf(thrown)).toBe(message)
  })
})
