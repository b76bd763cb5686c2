import { describe, expect, it } from 'vitest'
import { KeyRing } from '../../src/envelope/keys/key-ring.ts'
import {
  isLateDependency,
  openOnce,
  openResult,
  sealLateDependency,
  sealOnce,
  sealResult,
} from '../../src/envelope/result-seal.ts'

const secret = 'a secret of the tests alone'
const old = { id: 'old', secret: 'a secret that was used before' }
const keys = new KeyRing([{ id: 'new', secret }, old])
const end = { id: 'a', outcome: 'succeeded', result: '1' } as const
const job = { job: 'charge', queue: 'billing' }
const mail = { job: 'mail', queue: 'mail' }
const encrypted = { ...job, encrypted: true }
const forged = expect.objectContaining({ code: 'RESULT_FORGED' })

describe('the seal of a result', () => {
  it('vouches for this job, this outcome and this result, and for no other', () => {
    const sealed = { ...end, ...sealResult(end, job, keys) }
    expect(openResult(sealed, job, keys)).toBe('1')
    const others = [{ id: 'b' }, { outcome: 'skipped' as const }, { result: '2' }, { result: null }, { result: '' }]
    for (const other of others) expect(() => openResult({ ...sealed, ...other }, job, keys)).toThrow(forged)
  })

  it('is verified with a key that signs no more, and not with one that was taken away', () => {
    const sealed = { ...end, ...sealResult(end, job, new KeyRing([old])) }
    expect(openResult(sealed, job, keys)).toBe('1')
    const without = new KeyRing([{ id: 'new', secret }])
    expect(() => openResult(sealed, job, without)).toThrow(forged)
  })

  it('may be missing only where what is not signed is accepted, and a wrong one is refused there too', () => {
    expect(() => openResult({ ...end, seal: null }, job, keys)).toThrow(forged)
    const accepting = new KeyRing([old], { acceptsUnsigned: true })
    expect(openResult({ ...end, seal: null }, job, accepting)).toBe('1')
    for (const seal of ['old.wrong', '', '.', 'old.wrong.WyJhIiwiYiJd', 'old.wrong.e30', 'old.wrong.!'])
      expect(() => openResult({ ...end, seal }, job, accepting), seal).toThrow(forged)
  })

  it('is not to be taken for one of another kind', () => {
    const once = sealOnce({ key: 'a', result: '1' }, job, keys)
    const late = sealLateDependency({ waiter: 'a', place: 0 }, job, keys)
    const named = sealResult(end, job, keys).seal?.split('.').at(-1)
    expect(openOnce({ key: 'a', ...once }, job, keys)).toEqual({ result: '1', wasEncrypted: false, wasSigned: true })
    for (const seal of [once.seal, late, `${once.seal}.${named}`, `${late}.${named}`])
      expect(() => openResult({ ...end, seal }, job, keys)).toThrow(forged)
    expect(() => openOnce({ key: 'a', ...sealResult(end, job, keys) }, job, keys)).toThrow(forged)
    expect(isLateDependency({ waiter: 'a', place: 0 }, late, job, keys)).toBe(true)
    for (const place of [1, '0']) expect(isLateDependency({ waiter: 'a', place }, late, job, keys)).toBe(false)
  })
})

describe('a key that is limited to other jobs', () => {
  const limited = new KeyRing([{ id: 'new', secret, queues: ['mail'] }])
  const unaware = new KeyRing([{ id: 'new', secret }])

  it('signs nothing beyond its limits', () => {
    expect(sealResult(end, job, limited).seal).toBeNull()
    expect(sealOnce({ key: 'a', result: '1' }, job, limited).seal).toBeNull()
    expect(sealLateDependency({ waiter: 'a', place: 0 }, job, limited)).toBeNull()
    expect(openResult({ ...end, ...sealResult(end, mail, limited) }, mail, limited)).toBe('1')
  })

  it('vouches for nothing beyond its limits, also where it was used by somebody who does not know them', () => {
    expect(() => openResult({ ...end, ...sealResult(end, job, unaware) }, job, limited)).toThrow(forged)
    const once = { key: 'a', ...sealOnce({ key: 'a', result: '1' }, job, unaware) }
    expect(() => openOnce(once, job, limited)).toThrow(forged)
    expect(openOnce(once, mail, limited).result).toBe('1')
    const late = sealLateDependency({ waiter: 'a', place: 0 }, job, unaware)
    expect(isLateDependency({ waiter: 'a', place: 0 }, late, job, limited)).toBe(false)
  })

  it('cannot pass off a result of its own jobs as that of another one', () => {
    const sealed = { ...end, ...sealResult(end, mail, unaware) }
    expect(() => openResult(sealed, job, limited)).toThrow(forged)
    expect(() => openResult(sealed, { job: 'charge' }, limited)).toThrow(forged)
    expect(openResult(sealed, { job: 'mail' }, limited)).toBe('1')
  })
})

describe('a result that is encrypted', () => {
  it('is read with the key, in its own place alone', () => {
    const plain = '{"card":"4111"}'
    const stored = sealResult({ ...end, result: plain }, encrypted, keys)
    expect(JSON.parse(stored.result as string)).toMatchObject({ encrypted: true, kid: 'new' })
    expect(stored.result).not.toContain('4111')
    expect(openResult({ ...end, ...stored }, job, keys)).toBe(plain)
    const once = sealOnce({ key: 'a', result: plain }, encrypted, keys)
    expect(once.result).not.toContain('4111')
    expect(openOnce({ key: 'a', ...once }, job, keys)).toEqual({ result: plain, wasEncrypted: true, wasSigned: true })
    const moved = sealResult({ ...end, id: 'b', result: stored.result }, job, keys)
    expect(openResult({ ...end, id: 'b', ...moved }, job, keys), 'a text like any other').toBe(stored.result)
  })

  it('is not decrypted where a handler only returned what looks like it', () => {
    const { result } = sealResult(end, encrypted, keys)
    const stored = sealResult({ ...end, result }, job, keys)
    expect(openResult({ ...end, ...stored }, job, keys)).toBe(result)
  })

  it('is nothing where there is none', () => {
    const stored = sealResult({ ...end, result: null }, encrypted, keys)
    expect(openResult({ ...end, ...stored }, job, keys)).toBeNull()
  })
})
