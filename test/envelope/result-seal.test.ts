import { describe, expect, it } from 'vitest'
import { KeyRing } from '../../src/envelope/key-ring.ts'
import {
  isLateDependency,
  sealLateDependency,
  sealOnce,
  sealResult,
  verifyOnce,
  verifyResult,
} from '../../src/envelope/result-seal.ts'

const old = { id: 'old', secret: 'a secret that was used before' }
const keys = new KeyRing([{ id: 'new', secret: 'a secret of the tests alone' }, old])
const end = { id: 'a', outcome: 'succeeded', result: '1' } as const
const forged = expect.objectContaining({ code: 'RESULT_FORGED' })

describe('the seal of a result', () => {
  it('vouches for this job, this outcome and this result, and for no other', () => {
    const seal = sealResult(end, keys)
    verifyResult({ ...end, seal }, keys)
    const others = [{ id: 'b' }, { outcome: 'skipped' as const }, { result: '2' }, { result: null }, { result: '' }]
    for (const other of others) expect(() => verifyResult({ ...end, ...other, seal }, keys)).toThrow(forged)
  })

  it('is verified with a key that signs no more, and not with one that was taken away', () => {
    const seal = sealResult(end, new KeyRing([old]))
    verifyResult({ ...end, seal }, keys)
    const without = new KeyRing([{ id: 'new', secret: 'a secret of the tests alone' }])
    expect(() => verifyResult({ ...end, seal }, without)).toThrow(forged)
  })

  it('may be missing only where what is not signed is accepted, and a wrong one is refused there too', () => {
    expect(() => verifyResult({ ...end, seal: null }, keys)).toThrow(forged)
    const accepting = new KeyRing([old], { acceptsUnsigned: true })
    verifyResult({ ...end, seal: null }, accepting)
    expect(() => verifyResult({ ...end, seal: 'old.wrong' }, accepting)).toThrow(forged)
  })

  it('is not to be taken for one of another kind', () => {
    const once = sealOnce({ key: 'a', result: '1' }, keys)
    const late = sealLateDependency({ waiter: 'a', place: 0 }, keys)
    verifyOnce({ key: 'a', result: '1', seal: once }, keys)
    for (const seal of [once, late]) expect(() => verifyResult({ ...end, seal }, keys)).toThrow(forged)
    expect(() => verifyOnce({ key: 'a', result: '1', seal: sealResult(end, keys) }, keys)).toThrow(forged)
    expect(isLateDependency({ waiter: 'a', place: 0 }, late, keys)).toBe(true)
    for (const place of [1, '0']) expect(isLateDependency({ waiter: 'a', place }, late, keys)).toBe(false)
  })
})
