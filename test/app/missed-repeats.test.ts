import { describe, expect, it } from 'vitest'
import type { MisfireKind, MisfireOptions } from '../../src/scheduling/misfire.ts'
import { world } from '../world.ts'

const hour = 3_600_000

/** A repeat that ran once, whose next run was stored ahead for an hour later, and a program that comes back after so long. */
async function cameBack(repeat: string, afterMs: number, kind: MisfireKind, options: MisfireOptions, scheduler = true) {
  const { jobs, clock, happened, backend } = world()
  let ran = 0
  jobs
    .define('poll', async () => void ran++)
    .repeat(repeat)
    .misfire(kind, options)
  const start = clock.now()
  await jobs.run()
  await jobs.run()
  await clock.advance(afterMs)
  await jobs.run({ scheduler })
  const stored = await backend.store.list({ limit: 100 })
  return {
    ran: ran - 1,
    missed: happened.flatMap(({ name, event }) => (name === 'schedule:missed' ? [event] : [])),
    skipped: stored.filter(({ state }) => state === 'skipped').length,
    waiting: stored.filter(({ state }) => state === 'scheduled').map(({ runAt }) => runAt - start),
  }
}

describe('a run of a repeat that was stored ahead, and that nobody saw fall due', () => {
  it('is left out where it is too late, told, and the repeat goes on', async () => {
    const { ran, missed, skipped, waiting } = await cameBack('FINISHED, +1 HOUR', 5 * hour, 'skip', {})
    expect([ran, skipped, waiting]).toEqual([0, 1, [6 * hour]])
    expect(missed).toEqual([{ schedule: 'poll', madeUp: [], leftOut: 1 }])
  })

  it('is left out by a worker too, where no scheduler is, and told', async () => {
    const { ran, missed, skipped } = await cameBack('FINISHED, +1 HOUR', 5 * hour, 'skip', {}, false)
    expect([ran, skipped]).toEqual([0, 1])
    expect(missed).toEqual([{ schedule: 'poll', madeUp: [], leftOut: 1 }])
  })

  it('counts to the cap: of five that are overdue two are made up for', async () => {
    const { ran, missed, skipped } = await cameBack('SCHEDULED, +1 HOUR', 5.5 * hour, 'all', { cap: 2 })
    expect([ran, skipped]).toEqual([1, 1])
    expect(missed).toEqual([{ schedule: 'poll', madeUp: [], leftOut: 1 }])
  })

  it('runs late where its policy wants it', async () => {
    expect(await cameBack('FINISHED, +1 HOUR', 5 * hour, 'latest', {})).toMatchObject({ ran: 1, skipped: 0, missed: [] })
  })
})

describe('a run of a repeat that a scheduler found while it was not too late', () => {
  /** Found so late, when every worker was busy with other queues; a worker is free much later. */
  async function foundBusy(afterMs: number, kind: MisfireKind, options: MisfireOptions) {
    const { jobs, clock, happened, other } = world()
    let ran = 0
    jobs
      .define('poll', async () => void ran++)
      .repeat('FINISHED, +1 HOUR')
      .misfire(kind, options)
    await jobs.run()
    await jobs.run()
    await clock.advance(hour + afterMs)
    await jobs.run({ queues: ['other'] })
    await clock.advance(2 * hour)
    const returned = other()
    returned.jobs
      .define('poll', async () => void ran++)
      .repeat('FINISHED, +1 HOUR')
      .misfire(kind, options)
    await returned.jobs.run({ scheduler: false })
    await jobs.run()
    return { ran: ran - 1, missed: happened.filter(({ name }) => name === 'schedule:missed') }
  }

  it.each([
    ['on time', 0, 'skip', {}],
    ['at the edge of its policy', 60_000, 'skip', {}],
    ['at the edge of how far back it makes up', 30 * 60_000, 'all', { within: '30m' }],
  ] as const)('%s only waits for a worker, and runs', async (_, afterMs, kind, options) => {
    expect(await foundBusy(afterMs, kind, options)).toEqual({ ran: 1, missed: [] })
  })

  it('stays where the next pass comes before any worker', async () => {
    const { jobs, clock } = world()
    let ran = 0
    jobs
      .define('poll', async () => void ran++)
      .repeat('FINISHED, +1 HOUR')
      .misfire('skip')
    await jobs.run()
    await jobs.run()
    await clock.advance(hour + 60_000)
    for (let pass = 0; pass < 3; pass++) {
      await jobs.run({ queues: ['other'] })
      await clock.advance(60_000)
    }
    await jobs.run()
    expect(ran).toBe(2)
  })
})
