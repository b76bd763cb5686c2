import { describe, expect, it } from 'vitest'
import { packThrown, unpackThrown } from '../../src/isolation/thrown.ts'

describe('an error that comes from an isolated handler', () => {
  it('still stands for the errors that it stood for', () => {
    const thrown = new AggregateError([new Error('a'), Object.assign(new Error('b'), { code: 'E2' })], 'none answered')
    const arrived = unpackThrown(structuredClone(packThrown(thrown)))
    expect(arrived).toBeInstanceOf(AggregateError)
    expect(arrived).toMatchObject({ message: 'none answered', errors: [{ message: 'a' }, { message: 'b', code: 'E2' }] })
  })
})
