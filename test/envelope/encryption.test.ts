import { describe, expect, it } from 'vitest'
import { parseEncrypted, shownText } from '../../src/envelope/encryption.ts'
import { type Identity, openEnvelope, sealEnvelope } from '../../src/envelope/envelope.ts'
import { reseal } from '../../src/envelope/reseal.ts'
import { fromWire, toWire } from '../../src/envelope/wire.ts'
import { delivery, firstKey, identity, payload, ring, secondKey } from './sample.ts'

const keys = ring(firstKey)
const secret: Identity = { ...identity, encrypted: true }
const seal = (id = secret.id, ring = keys) => sealEnvelope({ ...secret, id }, payload, delivery, ring)

describe('an encrypted job', () => {
  it('travels unreadable, and opens as what was sealed', () => {
    const envelope = seal()
    expect(JSON.stringify(envelope)).not.toContain('ada@')
    expect(openEnvelope(envelope, keys)).toMatchObject({ identity: secret, payload: JSON.parse(payload), text: envelope.payload })
    expect(shownText(envelope.payload)).toBe('{"encrypted":true,"kid":"k1"}')
  })

  it('is never encrypted twice alike', () => {
    const nonces = Array.from({ length: 100 }, () => parseEncrypted(seal().payload)?.nonce)
    expect(new Set(nonces).size).toBe(100)
    expect(Buffer.from(nonces[0] as string, 'base64url')).toHaveLength(12)
  })

  it('is decrypted with old keys, encrypted with the one that signs, and refused without its key', () => {
    const old = seal()
    const rotated = ring(secondKey, firstKey)
    expect(openEnvelope(old, rotated).payload).toEqual(JSON.parse(payload))
    expect(parseEncrypted(seal(secret.id, rotated).payload)?.kid).toBe('k2')
    expect(() => openEnvelope(old, null).payload).toThrow(expect.objectContaining({ code: 'ENVELOPE_MALFORMED' }))
    expect(() => openEnvelope(old, ring(secondKey))).toThrow(expect.objectContaining({ code: 'SIGNATURE_INVALID' }))
  })

  it('cannot have the payload of another, or one that is changed or plain, also where its signature would be genuine', () => {
    const other = seal('019b7cb4-0000-7000-8000-000000000002').payload
    const { data, ...rest } = parseEncrypted(seal().payload) as { data: string; kid: string; nonce: string; encrypted: true }
    const bytes = Buffer.from(data, 'base64url')
    bytes[0] = (bytes[0] as number) ^ 1
    const changed = JSON.stringify({ ...rest, data: bytes.toString('base64url') })
    const short = JSON.stringify({ ...rest, data: 'AAAA' })
    for (const text of [other, changed, short, payload, '{"encrypted":true,"kid":"k1"}']) {
      const forged = sealEnvelope(secret, text, delivery, keys, true)
      expect(() => openEnvelope(forged, keys).payload).toThrow(expect.objectContaining({ code: 'ENVELOPE_MALFORMED' }))
    }
  })

  it('says in its signed text that it is encrypted: a plain payload that looks like it is left alone', () => {
    const lookalike = seal().payload
    const plain = sealEnvelope(identity, lookalike, delivery, keys)
    expect(openEnvelope(plain, keys).payload).toEqual(JSON.parse(lookalike))
    const stripped = { ...seal(), identity: plain.identity }
    expect(() => openEnvelope(stripped, keys)).toThrow(expect.objectContaining({ code: 'SIGNATURE_INVALID' }))
  })

  it('stays encrypted when it is sealed again, with the same payload or another', () => {
    const opened = openEnvelope(seal(), keys)
    const kept = { number: null, createdAt: 1, uniqueKey: null, group: null }
    const same = reseal(opened, kept, { runAt: 2 }, keys)
    expect(same.payload).toBe(opened.text)
    const changed = reseal(opened, kept, { payload: '{"to":"bob"}', runAt: 2 }, keys)
    expect(parseEncrypted(changed.payload)?.kid).toBe('k1')
    for (const [envelope, to] of [
      [same, 'ada@example.com'],
      [changed, 'bob'],
    ] as const) {
      expect(openEnvelope(envelope, keys).payload).toEqual({ to })
    }
  })

  it('needs a key, and crosses the wire', () => {
    expect(() => sealEnvelope(secret, payload, delivery, null)).toThrow(expect.objectContaining({ code: 'KEY_INVALID' }))
    const { envelope } = fromWire(toWire(seal(), 0), delivery.createdAt)
    expect(openEnvelope(envelope, keys).payload).toEqual(JSON.parse(payload))
  })
})
