import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Mac } from '../../src/envelope/mac.ts'

const expected = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('base64url')

describe('a message authentication code', () => {
  it('is HMAC-SHA256 for every key and text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 2_700, maxLength: 9_000 }))
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200 }), text, (secret, message) => {
        expect(new Mac(secret).digest(message)).toBe(expected(secret, message))
      }),
      { seed: 1 },
    )
  })

  it('of a text does not depend on the texts before it', () => {
    const mac = new Mac('a secret of some length')
    for (const text of ['long '.repeat(3_000), 'short', 'é'.repeat(2_700), '']) {
      expect(mac.digest(text)).toBe(expected('a secret of some length', text))
    }
  })

  it('matches only itself', () => {
    const mac = new Mac('a secret of some length')
    const digest = mac.digest('text')
    expect(mac.matches('text', digest)).toBe(true)
    expect(mac.matches('texT', digest)).toBe(false)
    for (const wrong of [
      '',
      digest.slice(1),
      `${digest}A`,
      `Ł${digest.slice(1)}`,
      digest.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')),
    ]) {
      expect(mac.matches('text', wrong)).toBe(false)
    }
  })
})
