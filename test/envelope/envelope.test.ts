import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Envelope, type Identity, openEnvelope, parseIdentity, sealEnvelope } from '../../src/envelope/envelope.ts'
import { KeyRing } from '../../src/envelope/keys/key-ring.ts'
import { reseal } from '../../src/envelope/reseal.ts'
import { fromWire, toWire } from '../../src/envelope/wire.ts'
import { delivery, firstKey, identity, payload, ring, secondKey } from './sample.ts'

const keys = ring(firstKey)

describe('a sealed envelope', () => {
  it('opens as what was sealed', () => {
    const envelope = sealEnvelope(identity, payload, delivery, keys)
    expect(openEnvelope(envelope, keys)).toMatchObject({ identity, payload: { to: 'ada@example.com' }, text: payload })
  })

  it('repeats for the backend what routing needs, and keeps the payload as it was written', () => {
    const spaced = '{ "to": "ada" }'
    const envelope = sealEnvelope(identity, spaced, { ...delivery, uniqueKey: 'u' }, keys)
    expect(envelope).toMatchObject({
      id: identity.id,
      job: 'send-email',
      queue: 'mail',
      priority: 5,
      singleInstance: false,
      payload: spaced,
      runAt: delivery.runAt,
      createdAt: delivery.createdAt,
      uniqueKey: 'u',
    })
  })

  it('has the same form and the same signature whenever it is sealed: the order of members does not matter', () => {
    const reordered = Object.fromEntries(Object.entries(identity).reverse()) as unknown as Identity
    expect(sealEnvelope(reordered, payload, delivery, keys)).toEqual(sealEnvelope(identity, payload, delivery, keys))
  })

  it('keeps an empty meta and opens it as empty', () => {
    const envelope = sealEnvelope({ ...identity, meta: {} }, payload, delivery, keys)
    expect(openEnvelope(envelope, keys).identity.meta).toEqual({})
  })

  it('D17: carries the instant of a scheduled run, and is not longer where there is none', () => {
    const occurrence = Date.UTC(2026, 10, 15, 2)
    const scheduled = sealEnvelope({ ...identity, occurrence }, payload, delivery, keys)
    expect(openEnvelope(scheduled, keys).identity).toEqual({ ...identity, occurrence })
    expect(JSON.parse(scheduled.identity)).toHaveLength(12)
    expect(JSON.parse(sealEnvelope(identity, payload, delivery, keys).identity)).toHaveLength(11)
  })

  it('carries when it is to be done again, also beside an instant, and is what it was before where it is done once', () => {
    const repeat = 'STARTED, +1 DAY'
    for (const occurrence of [null, Date.UTC(2026, 10, 15, 2)]) {
      const sealed = sealEnvelope({ ...identity, occurrence, repeat }, payload, delivery, keys)
      expect(openEnvelope(sealed, keys).identity).toEqual({ ...identity, occurrence, repeat })
      expect(JSON.parse(sealed.identity).slice(11)).toEqual([occurrence, repeat])
    }
    const once = sealEnvelope({ ...identity, meta: {}, idempotencyKey: null }, payload, delivery, null).identity
    expect(once).toBe(`[1,"${identity.id}","send-email","Send an e-mail","mail",5,3,30000,false,null,null]`)
  })

  it('is repeated as it says itself, however alike the one before it was', () => {
    const alike = { ...identity, meta: {} }
    const repeats = [null, 'FINISHED', 'STARTED', null].map((repeat) =>
      sealEnvelope({ ...alike, repeat }, payload, delivery, keys),
    )
    expect(repeats.map((each) => openEnvelope(each, keys).identity.repeat)).toEqual([null, 'FINISHED', 'STARTED', null])
  })

  it('is no identity where it ends otherwise', () => {
    const text = sealEnvelope({ ...identity, meta: {} }, payload, delivery, null).identity.slice(0, -1)
    for (const ending of ['null', '"x"', 'null,null', '5,7', '5,null', 'null,"x",1', '"x","y"']) {
      expect(parseIdentity(`${text},${ending}]`), ending).toBeUndefined()
    }
  })

  it('has a number only where one is given, which is signed then', () => {
    const sealed = sealEnvelope(identity, payload, { ...delivery, number: 7 }, keys)
    expect([sealed.number, sealEnvelope(identity, payload, delivery, keys).number]).toEqual([7, null])
    expect(openEnvelope(sealed, keys).identity).toEqual(identity)
    for (const number of [8, null]) expect(codeOf({ ...sealed, number })).toBe('SIGNATURE_INVALID')
  })

  it('may be given a number later, which nothing vouches for until it is sealed again for that', () => {
    const numbered = { ...sealEnvelope(identity, payload, delivery, keys), number: 7 }
    const changed = reseal(openEnvelope(numbered, keys), numbered, { runAt: 0 }, keys)
    expect({ number: changed.number, signed: openEnvelope(changed, keys).isNumberSigned }).toEqual({ number: 7, signed: false })
    const again = reseal(openEnvelope(numbered, keys), numbered, { runAt: 0, signsNumber: true }, keys)
    expect(openEnvelope(again, keys)).toMatchObject({ identity, isNumberSigned: true })
    expect(codeOf({ ...again, number: 8 })).toBe('SIGNATURE_INVALID')
  })

  it('takes its number across the wire', () => {
    const sealed = sealEnvelope(identity, payload, { ...delivery, number: 7 }, keys)
    expect(openEnvelope(fromWire(toWire(sealed, 0), 0).envelope, keys).identity).toEqual(identity)
  })

  it('has the instant of its own run, however alike the one before it was', () => {
    const alike = { ...identity, meta: {} }
    const occurrences = [null, 1_000, 2_000, null].map((occurrence) =>
      sealEnvelope({ ...alike, occurrence }, payload, delivery, keys),
    )
    expect(occurrences.map((each) => openEnvelope(each, keys).identity.occurrence)).toEqual([null, 1_000, 2_000, null])
  })

  it('D17: says nothing of schedules', () => {
    expect(Object.keys(sealEnvelope(identity, payload, delivery, keys))).not.toContain('schedule')
    expect(Object.keys(parseIdentity(sealEnvelope(identity, payload, delivery, keys).identity) as Identity)).not.toContain('cron')
  })
})

describe('an envelope that was changed', () => {
  const changes: Readonly<Record<Exclude<keyof Identity, 'encrypted'>, unknown>> = {
    id: 'other-id',
    job: 'shell',
    name: 'Something else',
    queue: 'admin',
    priority: 20,
    maxRetries: 1_000,
    timeoutMs: null,
    singleInstance: true,
    idempotencyKey: null,
    meta: { tenant: 'evil' },
    occurrence: delivery.runAt,
    repeat: 'FINISHED, +1 HOUR',
    tags: ['urgent'],
    waitsFor: true,
    keyMark: 'another',
    parentMark: 'another',
    recurrence: {
      key: 'acme',
      kind: 'cron',
      said: '* * * * *',
      timezone: 'UTC',
      until: null,
      misfire: { kind: 'latest', withinMs: null },
      overlap: 'allow',
    },
  }

  it.each(Object.entries(changes))('D16, X18: is refused when its %s is another one', (field, value) => {
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    const forged = sealEnvelope({ ...identity, [field]: value } as Identity, payload, delivery, null)
    expect(codeOf({ ...forged, signature: sealed.signature })).toBe('SIGNATURE_INVALID')
  })

  it('D16: is refused when its payload is another one, or the same one written differently', () => {
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    expect(codeOf({ ...sealed, payload: '{"to":"eve@example.com"}' })).toBe('SIGNATURE_INVALID')
    expect(codeOf({ ...sealed, payload: `${payload} ` })).toBe('SIGNATURE_INVALID')
  })

  it.each(['id', 'job', 'queue', 'priority', 'singleInstance'] as const)(
    'is refused when only the %s that routes it was changed',
    (field) => {
      const sealed = sealEnvelope(identity, payload, delivery, keys)
      expect(codeOf({ ...sealed, [field]: changes[field] } as Envelope)).toBe('ENVELOPE_MALFORMED')
    },
  )

  it('is refused when what is signed was moved from the identity to the payload', () => {
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    for (const whole of [`${sealed.identity}\n${sealed.payload}`, `${sealed.identity}${sealed.payload}`]) {
      expect(codeOf({ ...sealed, identity: whole, payload: '' })).toBe('SIGNATURE_INVALID')
      expect(codeOf({ ...sealed, identity: '', payload: whole })).toBe('SIGNATURE_INVALID')
    }
  })

  it('D15, D16: may be delivered at another time, which is not signed', () => {
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    expect(openEnvelope({ ...sealed, runAt: 0, createdAt: 0, uniqueKey: 'x' } as Envelope, keys).identity).toEqual(identity)
  })
})

describe('a signature', () => {
  it('A5: must be there where there is a key', () => {
    expect(codeOf(sealEnvelope(identity, payload, delivery, null))).toBe('SIGNATURE_MISSING')
  })

  it('is not asked for where there is no key', () => {
    expect(openEnvelope(sealEnvelope(identity, payload, delivery, null), null).identity).toEqual(identity)
    expect(openEnvelope(sealEnvelope(identity, payload, delivery, keys), null).identity).toEqual(identity)
  })

  it('of another key, or of another key with the same name, is refused', () => {
    const sealed = sealEnvelope(identity, payload, delivery, ring(secondKey))
    expect(codeOf(sealed)).toBe('SIGNATURE_INVALID')
    const sameName = sealEnvelope(identity, payload, delivery, ring({ ...secondKey, id: firstKey.id }))
    expect(codeOf(sameName)).toBe('SIGNATURE_INVALID')
  })

  it.each([[''], ['.'], ['k1'], ['k1.'], ['.abc'], ['k1.abc'], [`k1.${'A'.repeat(43)}`], ['__proto__.abc'], ['constructor.abc']])(
    'of the form %j is refused',
    (signature) => {
      expect(codeOf({ ...sealEnvelope(identity, payload, delivery, keys), signature })).toBe('SIGNATURE_INVALID')
    },
  )

  it('X21: is made with the first key and accepted from all of them, so that keys can be rotated', () => {
    const before = sealEnvelope(identity, payload, delivery, ring(firstKey))
    const during = ring(secondKey, firstKey)
    expect(openEnvelope(before, during).identity).toEqual(identity)
    const after = sealEnvelope(identity, payload, delivery, during)
    expect(after.signature).toMatch(/^k2\./)
    expect(openEnvelope(after, ring(secondKey)).identity).toEqual(identity)
    expect(() => openEnvelope(before, ring(secondKey))).toThrow('signed with a key that is not in the key ring')
  })
})

describe('a key ring', () => {
  it.each([
    ['without a key', [], 'at least one signing key'],
    ['with a short secret', [{ id: 'a', secret: 'short' }], 'at least 16 bytes'],
    ['with an id that a signature cannot hold', [{ id: 'a.b', secret: firstKey.secret }], 'letters, digits'],
    ['with an empty id', [{ id: '', secret: firstKey.secret }], 'letters, digits'],
    ['with a limit that is no list', [{ ...firstKey, queues: 'mail' as never }], 'queues must be a list'],
    ['with a limit to nothing', [{ ...firstKey, jobs: [] }], 'jobs must be a list of at least one'],
    ['with a limit that a key file cannot hold', [{ ...firstKey, jobs: ['a b'] }], 'without spaces'],
    ['with a misspelt limit', [{ ...firstKey, queue: ['mail'] } as never], 'unknown member "queue", did you mean "queues"?'],
    ['with one id twice', [firstKey, { ...secondKey, id: firstKey.id }], 'the same id'],
  ])('%s is refused', (_, given, message) => {
    expect(() => ring(...given)).toThrow(
      expect.objectContaining({ code: 'KEY_INVALID', message: expect.stringContaining(message) }),
    )
  })

  it.each([
    ['of the queue', { queues: ['mail'] }],
    ['of a pattern of queues', { queues: ['reports', 'm*'] }],
    ['of the job', { jobs: ['send-email'] }],
    ['of a pattern of jobs', { jobs: ['send-*'] }],
    ['of both', { queues: ['mail'], jobs: ['*-email'] }],
  ])('signs and accepts jobs with a key %s', (_, scope) => {
    const limited = ring({ ...firstKey, ...scope })
    expect(openEnvelope(sealEnvelope(identity, payload, delivery, limited), limited).identity).toEqual(identity)
  })

  it.each([
    ['of another queue', { queues: ['reports'] }, 'queue reports'],
    ['of another pattern', { queues: ['mail-*', 'reports'] }, 'queues mail-*,reports'],
    ['of another job', { jobs: ['send-*-email'] }, 'jobs send-*-email'],
    ['of another job of the queue', { queues: ['mail'], jobs: ['other'] }, 'queue mail and jobs other'],
  ])('neither signs nor accepts a job with a key %s, though the signature is genuine', (_, scope, text) => {
    const limited = ring({ ...firstKey, ...scope })
    expect(() => sealEnvelope(identity, payload, delivery, limited)).toThrow(
      expect.objectContaining({ code: 'KEY_INVALID', message: expect.stringContaining('"send-email" on queue "mail"') }),
    )
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    const message = `The envelope is signed with key "k1", which is limited to ${text}; this job is "send-email" on queue "mail"`
    expect(() => openEnvelope(sealed, limited)).toThrow(expect.objectContaining({ code: 'SIGNATURE_INVALID', message }))
    // What stands outside of the signed text does not count.
    expect(() => openEnvelope({ ...sealed, queue: 'reports', job: 'other' }, limited)).toThrow(message)
  })

  it('signs with the first key that may', () => {
    const keys = ring({ ...firstKey, queues: ['reports'] }, secondKey)
    const sealed = sealEnvelope(identity, payload, delivery, keys)
    expect(sealed.signature).toMatch(/^k2\./)
    expect(sealEnvelope({ ...identity, queue: 'reports' }, payload, delivery, keys).signature).toMatch(/^k1\./)
    expect(openEnvelope(sealed, keys).identity).toEqual(identity)
  })

  it('lets jobs without a signature pass while signing is introduced, and none with a wrong one', () => {
    const accepting = new KeyRing([firstKey], { acceptsUnsigned: true })
    const unsigned = sealEnvelope(identity, payload, delivery, null)
    expect(openEnvelope(unsigned, accepting).identity).toEqual(identity)
    expect(codeOf(unsigned)).toBe('SIGNATURE_MISSING')
    for (const signature of ['', '.', 'null', `k1.${'A'.repeat(43)}`, 'k2.abc']) {
      expect(() => openEnvelope({ ...unsigned, signature }, accepting)).toThrow(
        expect.objectContaining({ code: 'SIGNATURE_INVALID' }),
      )
    }
  })

  it('signs with HMAC-SHA256, whatever the key and the texts', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 })
    fc.assert(
      fc.property(fc.string({ minLength: 16, maxLength: 200 }), text, text, (secret, first, second) => {
        const expected = createHmac('sha256', secret).update(`${first}\n${second}`).digest('base64url')
        expect(ring({ id: 'k', secret }).sign(first, second)).toBe(`k.${expected}`)
      }),
      { seed: 1 },
    )
  })

  it('never shows a secret in what it refuses', () => {
    const secret = 'hunter2'
    for (const key of [
      { id: 'a', secret },
      { id: secret, secret: 'a' },
      { id: `${secret} of more words`, secret: 'a-secret-that-is-long-enough' },
    ]) {
      expect(() => ring(key)).toThrow(expect.not.objectContaining({ message: expect.stringContaining(secret) }))
    }
  })
})

describe('an envelope that holds nonsense', () => {
  it.each([
    ['not JSON', 'x'],
    ['no list', '{}'],
    ['a list that is too short', '[1]'],
    ['of another version', JSON.stringify([2, 'i', 'j', 'n', 'q', 5, 0, null, false, null, null])],
    ['with a number for its job', JSON.stringify([1, 'i', 7, 'n', 'q', 5, 0, null, false, null, null])],
    ['with a text for its priority', JSON.stringify([1, 'i', 'j', 'n', 'q', '5', 0, null, false, null, null])],
    ['with a list for its meta', JSON.stringify([1, 'i', 'j', 'n', 'q', 5, 0, null, false, null, []])],
    ['with a text for its occurrence', JSON.stringify([1, 'i', 'j', 'n', 'q', 5, 0, null, false, null, null, '2026'])],
    ['with an occurrence of nothing', JSON.stringify([1, 'i', 'j', 'n', 'q', 5, 0, null, false, null, null, null])],
    ['with an occurrence that is no instant', JSON.stringify([1, 'i', 'j', 'n', 'q', 5, 0, null, false, null, null, 9e15])],
    ['with more than an occurrence', JSON.stringify([1, 'i', 'j', 'n', 'q', 5, 0, null, false, null, null, 1, 1])],
    ['with a number for its idempotency key', JSON.stringify([1, 'i', 'j', 'n', 'q', 5, 0, null, false, 1, null])],
  ])('has an identity that is refused: %s', (_, text) => {
    expect(parseIdentity(text)).toBeUndefined()
    const signature = keys.sign(text, payload)
    expect(codeOf({ ...sealEnvelope(identity, payload, delivery, keys), identity: text, signature })).toBe('ENVELOPE_MALFORMED')
  })

  it('has a payload that is not JSON', () => {
    expect(codeOf(sealEnvelope(identity, '{to: ada}', delivery, keys))).toBe('ENVELOPE_MALFORMED')
  })
})

function codeOf(envelope: Envelope): string {
  try {
    openEnvelope(envelope, keys)
    return 'opened'
  } catch (thrown) {
    return (thrown as { code: string }).code
  }
}
