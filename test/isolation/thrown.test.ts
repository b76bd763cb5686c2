import { describe, expect, it } from 'vitest'
import { packThrown, unpackThrown } from '../../src/isolation/thrown.ts'

describe('an error that comes from an isolated handler', () => {
  it('still stands for the errors that it stood for', () => {
    const thrown = new AggregateError([new Error('a'), Object.assign(new Error('b'), { code: 'E2' })], 'none answered')
    const arrived = unpackThrown(structuredClone(packThrown(thrown)))
    expect(arrived).toBeInstanceOf(AggregateError)
    expect(arrived).toMatchObject({ message: 'none answered', errors: [{ message: 'a' }, { message: 'b', code: 'E2' }] })
  })

  it('is packed whatever it does when it is looked at', () => {
    const { proxy: revoked, revoke } = Proxy.revocable({}, {})
    revoke()
    const trap = () => {
      throw new Error('not for you')
    }
    const hostile = new Proxy(new Error('hidden'), { get: trap, getPrototypeOf: trap, ownKeys: trap })
    for (const thrown of [revoked, hostile, Object.create(null), Symbol('thrown'), { name: { toString: trap } }]) {
      expect(() => structuredClone(packThrown(thrown))).not.toThrow()
    }
    const nameless = Object.defineProperty(new Error('seen'), 'name', { value: Object.create(null) })
    expect(packThrown(nameless)).toMatchObject({ kind: 'error', name: 'Error', message: 'seen' })
  })

  it('crosses with the beginning of a text that is too long for it', () => {
    const packed = packThrown(new Error('x'.repeat(50_000_000)))
    expect(JSON.stringify(packed).length).toBeLessThan(3_000_000)
    expect(unpackThrown(packed)).toMatchObject({ message: expect.stringMatching(/^x{1000}/) })
  })
})
