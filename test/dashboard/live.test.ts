import { describe, expect, test } from 'vitest'
import type { JobStore } from '../../src/queue/contract/store.ts'
import { everything } from '../../src/server/access/grant.ts'
import type { LiveViews } from '../../src/server/dashboard/live/live-views.ts'
import { Snapshots } from '../../src/server/dashboard/live/snapshots.ts'
import { TopicVersion } from '../../src/server/dashboard/live/topic-version.ts'
import { Topics } from '../../src/server/dashboard/live/topics.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'

const read = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes).replace(/^data: /, ''))

describe('a version of a topic', () => {
  const first = TopicVersion.after(null, 'overview:1h', { data: { ready: 1, points: [1, 2, 3] } })

  test('is sent whole to a stream that has none', () => {
    expect(read(first.event(0, 5))).toEqual({ topic: 'overview:1h', at: 5, data: { ready: 1, points: [1, 2, 3] } })
  })

  test('is the same one while nothing has changed', () => {
    expect(TopicVersion.after(first, 'overview:1h', { data: { ready: 1, points: [1, 2, 3] } })).toBe(first)
  })

  test('is sent as what has changed to a stream that has the one before, and whole to all others', () => {
    const second = TopicVersion.after(first, 'overview:1h', { data: { ready: 2, points: [1, 2, 3] } })
    const third = TopicVersion.after(second, 'overview:1h', { data: { ready: 2, points: [4] } })
    expect(read(second.event(first.number, 6))).toEqual({ topic: 'overview:1h', at: 6, changes: { ready: 2 } })
    expect(read(third.event(second.number, 7))).toEqual({ topic: 'overview:1h', at: 7, changes: { points: [4] } })
    expect(read(third.event(first.number, 7)).data).toEqual({ ready: 2, points: [4] })
  })

  test.each([
    ['has lost a member', { data: { ready: 1 } }, { ready: 1 }],
    ['is no object', { data: [1] }, [1]],
    ['is nothing', { data: undefined }, null],
  ])('that %s is sent whole', (_, looked, data) => {
    expect(read(TopicVersion.after(first, 'overview:1h', looked).event(first.number, 8)).data).toEqual(data)
  })

  test('that cannot be shown says why, and the one after it is sent whole', () => {
    const problem = { status: 500, title: 'It could not be shown', detail: '' }
    const failed = TopicVersion.after(first, 'overview:1h', { problem })
    expect(read(failed.event(first.number, 9))).toEqual({ topic: 'overview:1h', at: 9, problem })
    const again = TopicVersion.after(failed, 'overview:1h', { data: { ready: 1, points: [1, 2, 3] } })
    expect(read(again.event(failed.number, 10)).data).toEqual({ ready: 1, points: [1, 2, 3] })
  })

  test('is encoded once for all streams that receive it, and anew when its time has passed', () => {
    const { buffer } = first.event(0, 100)
    expect(first.event(0, 101).buffer).toBe(buffer)
    expect(read(first.event(0, 60_000)).at).toBe(60_000)
  })
})

describe('a topic that many watch', () => {
  test('is computed once for all of them, at most one part in forty of the time, and each gets all of it and then what changes', async () => {
    const clock = new ManualClock(1_000_000)
    let looks = 0
    const views = {
      paceMs: () => 1_000,
      look: async () => {
        looks++
        await new Promise<void>((resolve) => void clock.timer(100, resolve))
        return { looks, same: 'text' }
      },
    }
    const topics = new Topics(views as unknown as LiveViews, clock)
    const viewer = { user: null, grant: everything, canLogOut: false }
    const endings = Array.from({ length: 50 }, () => new AbortController())
    const heard = endings.map(() => [] as Record<string, unknown>[])
    const streams = endings.map(async ({ signal }, at) => {
      for await (const event of topics.stream(viewer, ['overview'], signal, async () => true)) {
        if (typeof event !== 'string') heard[at]?.push(read(event))
      }
    })
    await clock.advance(60_000)
    for (const ending of endings) ending.abort()
    await Promise.all(streams)
    expect(looks).toBeGreaterThan(5)
    expect(looks).toBeLessThanOrEqual(15)
    for (const [first, second] of heard) {
      expect(first).toMatchObject({ topic: 'overview', data: { looks: 1, same: 'text' } })
      expect(second).toMatchObject({ topic: 'overview', changes: { looks: 2 } })
    }
  })
})

describe('what all pages need', () => {
  test('is read once for all viewers, and the less often the longer it takes', async () => {
    const clock = new ManualClock(1_000_000)
    let [reads, tookMs] = [0, 0]
    const counts = async () => {
      reads++
      await clock.advance(tookMs)
      return []
    }
    const snapshots = new Snapshots({ counts } as unknown as JobStore, clock)
    const readings = async (times: number) => {
      const before = reads
      for (let n = 0; n < times; n++) {
        await Promise.all([snapshots.counts(), snapshots.counts()])
        await clock.advance(1_000)
      }
      return reads - before
    }
    expect(await readings(10)).toBe(10)
    tookMs = 200
    await readings(1)
    expect(await readings(10)).toBeLessThan(5)
  })
})
