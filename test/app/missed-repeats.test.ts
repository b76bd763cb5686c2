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

  it('is left out by a worker too, where no scheduler is', async () => {
    expect(await cameBack('FINISHED, +1 HOUR', 5 * hour, 'skip', {}, false)).toMatchObject({ ran: 0, skipped: 1 })
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
