import { describe, expect, test } from 'vitest'
import { Room } from '../../src/manager/room.ts'

function roomAt(load: { now: number }, maxJobs = 100) {
  return new Room({ maxLoad: 4, maxJobs, loadAverage: () => load.now })
}

describe('the room for jobs', () => {
  test('is for ten at first, and none while the load is at its limit', () => {
    const load = { now: 3.9 }
    const room = roomAt(load)
    expect(room.left(0)).toBe(10)
    expect(room.left(7)).toBe(3)
    load.now = 4
    expect(room.left(0)).toBe(0)
  })

  test('grows by one a second while it is used', () => {
    const room = roomAt({ now: 1 })
    for (let second = 0; second < 5; second++) room.adapt(10 + second)
    expect(room.left(0)).toBe(15)
    room.adapt(3)
    expect(room.left(0)).toBe(15)
  })

  test('falls by a fifth a second when the load is well above its limit, and not below ten', () => {
    const load = { now: 1 }
    const room = roomAt(load)
    for (let second = 0; second < 40; second++) room.adapt(1_000)
    load.now = 4.4
    room.adapt(50)
    load.now = 4.5
    room.adapt(50)
    load.now = 1
    expect(room.left(0)).toBe(40)
    load.now = 40
    for (let second = 0; second < 20; second++) room.adapt(50)
    load.now = 1
    expect(room.left(0)).toBe(10)
  })

  test('is never more than is allowed', () => {
    const room = roomAt({ now: 1 }, 3)
    for (let second = 0; second < 20; second++) room.adapt(3)
    expect(room.left(0)).toBe(3)
  })
})
