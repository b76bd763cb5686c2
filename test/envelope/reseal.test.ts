import { describe, expect, it } from 'vitest'
import { openEnvelope, sealEnvelope } from '../../src/envelope/envelope.ts'
import { KeyRing } from '../../src/envelope/keys/key-ring.ts'
import { reseal } from '../../src/envelope/reseal.ts'
import { delivery, firstKey, identity, payload, ring } from './sample.ts'

const keys = ring(firstKey)

describe('sealing again', () => {
  it('what was verified is signed again, with what is to be different', () => {
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    const again = reseal(openEnvelope(sealed, keys), sealed, { identity: { priority: 9 }, payload: '1', runAt: 7 }, keys)
    expect(openEnvelope(again, keys)).toMatchObject({ identity: { ...identity, priority: 9 }, payload: 1, text: '1' })
    expect(again).toMatchObject({ id: sealed.id, createdAt: sealed.createdAt, uniqueKey: sealed.uniqueKey, runAt: 7 })
  })

  it('nobody can give it another id', () => {
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    const stolen = { id: 'another', priority: 9 }
    const again = reseal(openEnvelope(sealed, keys), sealed, { identity: stolen, runAt: 7 }, keys)
    expect([again.id, openEnvelope(again, keys).identity.id]).toEqual([identity.id, identity.id])
  })

  it('the payload is the text that was signed, whatever was done to what it says', () => {
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    const opened = openEnvelope(sealed, keys)
    Object.assign(opened.payload as object, { to: 'mallory' })
    expect(reseal(opened, sealed, { runAt: 7 }, keys).payload).toBe(payload)
  })

  it('a job that was accepted without a signature gets none', () => {
    class Lenient extends KeyRing {
      override verify(): boolean {
        return true
      }
    }
    const lenient = new Lenient([{ id: 'k1', secret: 'a secret of 16 bytes or more' }])
    const unsigned = sealEnvelope(identity, payload, delivery, null)
    expect(reseal(openEnvelope(unsigned, lenient), unsigned, { runAt: 7 }, lenient).signature).toBe(null)
    expect(reseal(openEnvelope(unsigned, null), unsigned, { runAt: 7 }, keys).signature).toBe(null)
  })

  it('a copy of what was verified is not: the types refuse it, and there is nothing to ask', () => {
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    const copy = { ...openEnvelope(sealed, keys), payload: 'forged', text: '"forged"' }
    // @ts-expect-error Only what `openEnvelope` gave can be sealed again.
    expect(() => reseal(copy, sealed, { runAt: 7 }, keys)).toThrow(TypeError)
  })
})
