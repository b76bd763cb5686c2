import { describe, expect, test } from 'vitest'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, readFields, redisUrl } from '../redis-ground.ts'

describe.skipIf(redisUrl() === null)('jobs that are given back', () => {
  test('are read without the jobs that wait for them', async () => {
    const clock = new ManualClock()
    const prefix = freshPrefix()
    await using backend = await openFresh({ clock, prefix })
    const bench = new Bench(backend, clock)
    await bench.send(...times(100, () => ({})))
    const leases = await bench.claim({ limit: 100 })
    await using client = await rawClient()
    const reads = await readFields(client, `{${prefix}}:`, async () => {
      await bench.settle(...leases.map((lease) => bench.snooze(lease)))
    })
    // Four fields of each, and what the commit checks and writes.
    expect(reads).toBeLessThan(2_700)
    expect(await bench.claim({ limit: 200 })).toHaveLength(100)
  })
})
