import { expect, it } from 'vitest'
import type { OccurrenceRecord } from '../../src/backends/store.ts'
import { type Broken, failuresIn, withCoordination, withSchedules } from './broken-backend.ts'

it.each<[string, string, Broken]>([
  ['a lock for everybody', 'locks', withCoordination(() => ({ lock: async () => ({ held: true }) }))],
  [
    'locks that their owner can not take again',
    'locks',
    withCoordination((whole) => {
      let turn = 0
      return { lock: (name, holder, ttlMs) => whole.lock(name, { ...holder, owner: `${holder.owner} ${turn++}` }, ttlMs) }
    }),
  ],
  ['locks without an end', 'locks', withCoordination((whole) => ({ lock: (name, holder) => whole.lock(name, holder, 1e12) }))],
  [
    'locks that anybody frees',
    'locks',
    withCoordination((whole) => ({
      async unlock(name) {
        const answer = await whole.lock(name, { owner: 'anybody', host: 'h', pid: 1 }, 1)
        return whole.unlock(name, answer.held ? 'anybody' : answer.by.owner)
      },
    })),
  ],
  [
    'occurrences that follow anything',
    'occurrences of schedules',
    withSchedules((whole) => ({
      enqueue: (occurrences) => whole.enqueue(occurrences.map(({ schedule, at, envelope }) => ({ schedule, at, envelope }))),
    })),
  ],
  [
    'occurrences that follow what was the latest before the call',
    'occurrences of schedules',
    withSchedules((whole) => ({
      async enqueue(occurrences) {
        const latest = new Map((await whole.standings()).map((standing) => [standing.name, standing.latest?.at ?? null]))
        const wanted = occurrences.filter(({ schedule, follows = latest.get(schedule) }) => follows === latest.get(schedule))
        const answers = await whole.enqueue(wanted.map(({ schedule, at, envelope }) => ({ schedule, at, envelope })))
        return occurrences.map((occurrence) => answers[wanted.indexOf(occurrence)] ?? false)
      },
    })),
  ],
  ['schedules that can not be paused', 'pausing and removing schedules', withSchedules(() => ({ pause: async () => true }))],
  [
    'pauses that end with a changed expression',
    'pausing and removing schedules',
    withSchedules((whole) => ({
      async register(entries) {
        await whole.register(entries)
        for (const { name } of entries) await whole.resume(name)
      },
    })),
  ],
  [
    'schedules that resume as if they had not been paused',
    'pausing and removing schedules',
    withSchedules((whole) => ({
      async standings(names) {
        return (await whole.standings(names)).map((standing) => ({ ...standing, since: 0 }))
      },
    })),
  ],
  [
    'schedules that can not be removed',
    'pausing and removing schedules',
    withSchedules((whole) => ({ remove: async (name) => (await whole.standings([name])).length > 0 })),
  ],
  ['one revision for ever', 'schedules', withSchedules(() => ({ revision: async () => 1 }))],
  [
    'another revision each time',
    'schedules',
    withSchedules(() => {
      let revision = 0
      return { revision: async () => revision++ }
    }),
  ],
  [
    'no outcomes of jobs that are deleted at once',
    'outcomes of occurrences',
    withSchedules((whole, { store }) => ({
      async standings(names) {
        const standings = await whole.standings(names)
        return Promise.all(
          standings.map(async (standing) => {
            const { latest } = standing
            const isThere = latest !== null && (await store.get(latest.jobId)) !== null
            return latest === null || isThere ? standing : { ...standing, latest: { ...latest, outcome: null } }
          }),
        )
      },
    })),
  ],
  [
    'no way back from an outcome',
    'outcomes of occurrences',
    (backend) => {
      const outcomes = new Map<string, OccurrenceRecord>()
      return withSchedules((whole) => ({
        async standings(names) {
          const standings = await whole.standings(names)
          return standings.map((standing) => {
            const { latest } = standing
            if (latest?.outcome) outcomes.set(latest.jobId, latest)
            return { ...standing, latest: latest && (outcomes.get(latest.jobId) ?? latest) }
          })
        },
      }))(backend)
    },
  ],
  [
    'no neighbours',
    'neighbours of occurrences',
    withSchedules(() => ({ neighbours: async () => ({ unended: null, seen: false }) })),
  ],
  [
    'waiting occurrences that are not skipped',
    'neighbours of occurrences',
    withSchedules(() => ({ skipWaiting: async () => 0 })),
  ],
  [
    'waiting occurrences that are skipped whenever they are due',
    'neighbours of occurrences',
    withSchedules((whole) => ({
      skipWaiting: (schedule, _, why) => whole.skipWaiting(schedule, Number.MAX_SAFE_INTEGER, why),
    })),
  ],
  [
    'the latest occurrence forgotten',
    'forgetting occurrences',
    withSchedules((whole) => {
      let forgottenBefore = Number.NEGATIVE_INFINITY
      return {
        forget(before, limit) {
          forgottenBefore = before
          return whole.forget(before, limit)
        },
        async standings(names) {
          const standings = await whole.standings(names)
          return standings.map((each) => ((each.latest?.at ?? 0) < forgottenBefore ? { ...each, latest: null } : each))
        },
      }
    }),
  ],
  ['nothing forgotten', 'forgetting occurrences', withSchedules(() => ({ forget: async () => 0 }))],
  [
    'occurrences forgotten without a limit',
    'forgetting occurrences',
    withSchedules((whole) => ({ forget: (before) => whole.forget(before, 1_000) })),
  ],
])('the conformance suite notices a backend with %s', async (_, group, breakIt) => {
  expect(await failuresIn(group, breakIt)).not.toEqual([])
})

it.each(['schedules', 'pausing and removing schedules', 'occurrences of schedules', 'forgetting occurrences', 'locks'])(
  'nothing about %s fails where nothing was broken',
  async (group) => {
    expect(
      await failuresIn(group, (backend) => ({ ...withSchedules(() => ({}))(backend), ...withCoordination(() => ({}))(backend) })),
    ).toEqual([])
  },
)
