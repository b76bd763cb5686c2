import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Identity, openEnvelope, sealEnvelope } from '../../src/envelope/envelope.ts'
import { fromWire, toWire } from '../../src/envelope/wire.ts'
import { createdAt, delivery, firstKey, identity, payload, ring } from './sample.ts'

const keys = ring(firstKey)

describe('the wire form', () => {
  it('A3, X18: is one object with the canonical fields, and those that the worker needs', () => {
    const envelope = sealEnvelope(identity, payload, delivery, keys)
    expect(JSON.parse(toWire(envelope, 2))).toEqual({
      v: 1,
      job: 'send-email',
      payload: { to: 'ada@example.com' },
      queue: 'mail',
      priority: 5,
      maxRetries: 3,
      attempts: 2,
      name: 'Send an e-mail',
      identifier: identity.id,
      idempotencyKey: 'welcome:ada',
      schedule: null,
      timeout: 30_000,
      singleInstance: false,
      meta: { tenant: 'acme', trace: { id: 7 } },
      _sig: envelope.signature,
    })
  })

  it('D15: says when a delayed job may run, and counts attempts from 0', () => {
    const wire = JSON.parse(toWire(sealEnvelope(identity, payload, { ...delivery, runAt: createdAt + 1_500 }, keys), 0))
    expect(wire).toMatchObject({ attempts: 0, schedule: '2026-01-01T00:00:01.500Z' })
  })

  it('D17: carries the instant of a scheduled run, and never a cron expression', () => {
    const scheduled = { ...identity, occurrence: Date.UTC(2026, 10, 15, 2) }
    const wire = toWire(sealEnvelope(scheduled, payload, delivery, keys), 0)
    expect(JSON.parse(wire)).toMatchObject({ occurrence: '2026-11-15T02:00:00.000Z', schedule: null })
    expect(wire).not.toMatch(/cron/i)
    expect(openEnvelope(fromWire(wire, createdAt).envelope, keys).identity).toEqual(scheduled)
  })

  it('carries when a job is to be done again', () => {
    const repeated = { ...identity, repeat: 'FINISHED, +1 HOUR' }
    const wire = toWire(sealEnvelope(repeated, payload, delivery, keys), 0)
    expect(JSON.parse(wire)).toMatchObject({ repeat: 'FINISHED, +1 HOUR' })
    expect(openEnvelope(fromWire(wire, createdAt).envelope, keys).identity).toEqual(repeated)
  })

  it('D16: is refused when a signed field was changed on the way, and not when attempts or schedule were', () => {
    const wire = JSON.parse(toWire(sealEnvelope(identity, payload, delivery, keys), 0))
    const open = (changes: object) => () =>
      openEnvelope(fromWire(JSON.stringify({ ...wire, ...changes }), createdAt).envelope, keys).identity
    const signed = {
      job: 'shell',
      payload: { to: 'eve@example.com' },
      queue: 'admin',
      priority: 9,
      maxRetries: 9,
      name: 'x',
      identifier: 'x',
      idempotencyKey: null,
      timeout: null,
      singleInstance: true,
      meta: {},
      occurrence: '2026-11-15T02:00:00Z',
      repeat: 'FINISHED',
    }
    for (const [field, value] of Object.entries(signed)) {
      expect(open({ [field]: value }), field).toThrow(expect.objectContaining({ code: 'SIGNATURE_INVALID' }))
    }
    expect(open({ attempts: 7, schedule: '2026-02-01T00:00:00Z' })()).toEqual(identity)
  })

  it('X12, D15: reads a schedule as ISO 8601, or as a date and a time that are meant in UTC', () => {
    expect(runAtOf('2026-02-01T00:00:00+01:00')).toBe(Date.UTC(2026, 0, 31, 23))
    expect(runAtOf('2026-02-01 00:00:00')).toBe(Date.UTC(2026, 1, 1))
    expect(runAtOf(null)).toBe(createdAt + 5)
  })

  it.each([
    ['that is not JSON', '{'],
    ['that is a number', '7'],
    ['that is null', 'null'],
    ['that is a list', '[]'],
    ['that is empty', '{}'],
  ])('A5: refuses a message %s', (_, text) => {
    expect(() => fromWire(text, createdAt)).toThrow(expect.objectContaining({ code: 'ENVELOPE_MALFORMED' }))
  })

  it.each([
    ['v', 2],
    ['job', ''],
    ['job', 7],
    ['payload', undefined],
    ['queue', null],
    ['priority', 1.5],
    ['maxRetries', -1],
    ['attempts', '0'],
    ['attempts', -1],
    ['name', undefined],
    ['identifier', ''],
    ['idempotencyKey', 5],
    ['schedule', 'tomorrow'],
    ['schedule', '2026-02-30 00:00:00'],
    ['schedule', 5],
    ['timeout', '30s'],
    ['singleInstance', 1],
    ['meta', []],
    ['meta', null],
    ['occurrence', 'tomorrow'],
    ['occurrence', 5],
    ['repeat', ''],
    ['repeat', null],
    ['_sig', 5],
  ])('names the field of a message whose %s is %j', (field, value) => {
    const wire = JSON.parse(toWire(sealEnvelope(identity, payload, delivery, keys), 0))
    expect(() => fromWire(JSON.stringify({ ...wire, [field]: value }), createdAt)).toThrow(
      expect.objectContaining({ code: 'ENVELOPE_MALFORMED', message: expect.stringContaining(`wrong type: ${field}`) }),
    )
  })

  it('names all wrong fields at once', () => {
    expect(() => fromWire('{"v":1,"job":"a"}', createdAt)).toThrow(/payload, queue, priority, maxRetries, attempts, name/)
  })

  it('A3: opens on the other side as what was sealed, whatever the job', () => {
    const text = fc.string({ minLength: 1, unit: 'binary' })
    const identities: fc.Arbitrary<Identity> = fc.record({
      id: text,
      job: text,
      name: text,
      queue: text,
      priority: fc.integer({ min: -32_768, max: 32_767 }),
      maxRetries: fc.nat(),
      timeoutMs: fc.option(fc.nat()),
      singleInstance: fc.boolean(),
      idempotencyKey: fc.option(text),
      meta: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<never>, { maxKeys: 3 }),
      occurrence: fc.option(fc.nat().map((seconds) => seconds * 1_000)),
      repeat: fc.option(text),
    })
    fc.assert(
      fc.property(identities, fc.jsonValue({ maxDepth: 4 }), fc.nat(), fc.nat(), (given, value, attempts, delayMs) => {
        const runAt = createdAt + delayMs
        const sealed = sealEnvelope(given, JSON.stringify(value), { createdAt, runAt, uniqueKey: null }, keys)
        const read = fromWire(toWire(sealed, attempts), createdAt)
        expect(read.attempts).toBe(attempts)
        expect(read.envelope).toEqual(sealed)
        const opened = openEnvelope(read.envelope, keys)
        expect(JSON.stringify(opened.payload)).toBe(sealed.payload)
        expect(opened.identity.job).toBe(given.job)
        expect(opened.identity.occurrence).toBe(given.occurrence)
      }),
      { seed: 1 },
    )
  })
})

function runAtOf(schedule: string | null): number {
  const wire = JSON.parse(toWire(sealEnvelope(identity, payload, delivery, null), 0))
  return fromWire(JSON.stringify({ ...wire, schedule }), createdAt + 5).envelope.runAt
}
