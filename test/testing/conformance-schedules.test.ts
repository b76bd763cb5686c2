import { expect, it } from 'vitest'
import type { OccurrenceRecord } from '../../src/queue/contract/schedule-store.ts'
import type { JobStore } from '../../src/queue/contract/store.ts'
import { type Broken, failuresIn, overlaid, withCoordination, withSchedules } from './broken-backend.ts'

it.each<[string, string, Broken]>([
  ['a lock for everybody', 'locks', withCoordination(() => ({ lock: async () => ({ held: true }) }))],
  [
    'locks that their owner cannot take again',
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
  [
    'schedules that cannot be paused',
    'pausing and removing schedules',
    withSchedules((whole) => ({
      change: async (name, change) => (change === 'pause' ? true : whole.change(name, change)),
    })),
  ],
  [
    'pauses that end with a changed expression',
    'pausing and removing schedules',
    withSchedules((whole) => ({
      async register(entries) {
        await whole.register(entries)
        for (const { name } of entries) await whole.change(name, 'resume')
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
    'schedules that cannot be removed',
    'pausing and removing schedules',
    withSchedules((whole) => ({
      change: async (name, change) =>
        change === 'remove' ? (await whole.standings([name])).length > 0 : whole.change(name, change),
    })),
  ],
  [
    'one revision for ever',
    'schedules',
    withSchedules((whole) => ({ changes: async (since, limit) => ({ ...(await whole.changes(since, limit)), revision: 1 }) })),
  ],
  [
    'another revision each time',
    'schedules',
    withSchedules((whole) => {
      let revision = 0
      return { changes: async (since, limit) => ({ ...(await whole.changes(since, limit)), revision: revision++ }) }
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
    'neighbours that hold back before they were begun',
    'neighbours of occurrences',
    withSchedules((whole) => ({
      async neighbours({ schedule, at }) {
        const earlier = await whole.occurrences({ schedule, upTo: at - 1, limit: 100 })
        const unended = earlier.filter((each) => each?.outcome === null).at(-1)?.at ?? null
        return { ...(await whole.neighbours({ schedule, at })), unended }
      },
    })),
  ],
  [
    'occurrences that are seen whenever there is a later one',
    'neighbours of occurrences',
    withSchedules((whole) => ({
      async neighbours({ schedule, at }) {
        const [latest] = await whole.occurrences({ schedule, upTo: Number.MAX_SAFE_INTEGER, limit: 1 })
        return { ...(await whole.neighbours({ schedule, at })), seen: (latest?.at ?? 0) > at }
      },
    })),
  ],
  [
    'waiting occurrences that are not skipped',
    'skipping occurrences that wait',
    withSchedules(() => ({ skipWaiting: async () => 0 })),
  ],
  [
    'waiting occurrences that are skipped whenever they are due',
    'skipping occurrences that wait',
    withSchedules((whole) => ({
      skipWaiting: (request) => whole.skipWaiting({ ...request, before: Number.MAX_SAFE_INTEGER }),
    })),
  ],
  [
    'waiting occurrences that are skipped whether they were seen or not',
    'skipping occurrences that wait',
    withSchedules((whole) => ({ skipWaiting: (request) => whole.skipWaiting({ ...request, unseenOnly: false }) })),
  ],
  [
    'waiting occurrences that are skipped only where nobody saw them',
    'skipping occurrences that wait',
    withSchedules((whole) => ({ skipWaiting: (request) => whole.skipWaiting({ ...request, unseenOnly: true }) })),
  ],
  [
    'occurrences of any version',
    'occurrences of schedules',
    withSchedules((whole) => ({
      enqueue: (occurrences) => whole.enqueue(occurrences.map(({ version: _, ...occurrence }) => occurrence)),
    })),
  ],
  [
    'the last occurrences in the wrong order',
    'occurrences of schedules',
    withSchedules((whole) => ({
      occurrences: async (query) => {
        const found = await whole.occurrences(query)
        return 'keys' in query ? found : [...found].reverse()
      },
    })),
  ],
  [
    'versions that nobody writes down',
    'schedules',
    withSchedules((whole) => ({
      register: (entries) => whole.register(entries.map((entry) => ({ ...entry, version: 'v1' }))),
    })),
  ],
  [
    'changed versions that count as changed expressions',
    'withdrawing occurrences',
    withSchedules((whole) => ({
      register: (entries) =>
        whole.register(entries.map((entry) => ({ ...entry, expression: `${entry.expression} ${entry.version}` }))),
    })),
  ],
  [
    'removed schedules whose due runs come all the same',
    'pausing and removing schedules',
    withSchedules((whole, { store }) => ({
      async change(name, change) {
        if (change !== 'remove') return whole.change(name, change)
        const waiting = (await store.list({ limit: 100 })).filter((job) => job.schedule === name && job.startedAt === null)
        const isKnown = await whole.change(name, change)
        await store.retry(waiting.map(({ id }) => id))
        return isKnown
      },
    })),
  ],
  [
    'the latest occurrence forgotten',
    'forgetting occurrences',
    ({ store }) => {
      let forgottenBefore = Number.NEGATIVE_INFINITY
      const sweep: JobStore['sweep'] = (request) => {
        if ('before' in request) forgottenBefore = request.before
        return store.sweep(request)
      }
      const schedules = overlaid(store.schedules, {
        async standings(names) {
          const standings = await store.schedules.standings(names)
          return standings.map((each) => ((each.latest?.at ?? 0) < forgottenBefore ? { ...each, latest: null } : each))
        },
      })
      return { store: overlaid(store, { sweep, schedules }) }
    },
  ],
  [
    'nothing forgotten',
    'forgetting occurrences',
    ({ store }) => ({ store: overlaid(store, { sweep: async () => ({ looked: 0, changed: 0 }) }) }),
  ],
  [
    'occurrences forgotten without a limit',
    'forgetting occurrences',
    ({ store }) => ({ store: overlaid(store, { sweep: (request) => store.sweep({ ...request, limit: 1_000 }) }) }),
  ],
])('the conformance suite notices a backend with %s', async (_, group, breakIt) => {
  expect(await failuresIn(group, breakIt)).not.toEqual([])
})

it.each([
  'schedules',
  'withdrawing occurrences',
  'pausing and removing schedules',
  'occurrences of schedules',
  'neighbours of occurrences',
  'skipping occurrences that wait',
  'forgetting occurrences',
  'locks',
])('nothing about %s fails where nothing was broken', async (group) => {
  expect(
    await failuresIn(group, (backend) => ({ ...withSchedules(() => ({}))(backend), ...withCoordination(() => ({}))(backend) })),
  ).toEqual([])
})
