import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idMaker, randomToken } from '../../src/core/id.ts'

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('an id', () => {
  it('is a UUID of version 7 that begins with the millisecond of its making', () => {
    const now = Date.UTC(2026, 0, 1)
    const id = idMaker(() => now)()
    expect(id).toMatch(uuid7)
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(now)
  })

  it('is unique over two hundred thousand, however the clock stands, and rises strictly', () => {
    const newId = idMaker(() => 1_767_225_600_000)
    const seen = new Set<string>()
    let last = ''
    for (let made = 0; made < 200_000; made++) {
      const id = newId()
      if (id <= last) expect.unreachable(`${id} does not follow ${last}`)
      last = id
      seen.add(id)
    }
    expect(seen.size).toBe(200_000)
  })

  it('is not guessed from another one', () => {
    const newId = idMaker(() => 1_767_225_600_000)
    const tails = Array.from({ length: 1_000 }, () => newId().slice(19))
    expect(new Set(tails).size).toBe(1_000)
  })

  it('rises strictly within a process, also when the clock steps back', () => {
    const steps = fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 2, maxLength: 300 })
    fc.assert(
      fc.property(steps, (given) => {
        let now = 1_767_225_600_000
        const newId = idMaker(() => now)
        const ids = given.map((step) => {
          now += step
          return newId()
        })
        expect(ids).toEqual([...ids].sort())
        expect(new Set(ids).size).toBe(ids.length)
        for (const id of ids) expect(id).toMatch(uuid7)
      }),
      { seed: 1 },
    )
  })

  it('goes back to the time of the clock once that has passed the last id', () => {
    let now = 10_000
    const newId = idMaker(() => now)
    newId()
    now = 5_000
    expect(timeOf(newId())).toBe(10_000)
    now = 20_000
    expect(timeOf(newId())).toBe(20_000)
  })
})

describe('a token', () => {
  it('has 128 random bits in 22 characters', () => {
    const tokens = Array.from({ length: 10_000 }, () => randomToken())
    expect(new Set(tokens).size).toBe(10_000)
    for (const token of tokens) if (!/^[A-Za-z0-9_-]{22}$/.test(token)) expect.unreachable(token)
  })
})

function timeOf(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16)
}
