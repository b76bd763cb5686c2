import { describe, expect, test } from 'vitest'
import type { KeyPattern } from '../../../src/queue/rules/claiming/key-pattern.ts'
import { Bench, byGroup, times, unlimited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock, seededRandom } from '../../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, readFields, redisUrl } from '../redis-ground.ts'

/** Keys that fit a glob. */
const fitting = (glob: string): KeyPattern => [{ names: [], globs: [glob], mark: 'mock~', marked: 'left out' }]

describe.skipIf(redisUrl() === null).each([{ fastPaths: true }, { fastPaths: false }])(
  'where nearly every job has a name of its own, with fast paths: $fastPaths,',
  ({ fastPaths }) => {
    async function program(work: (bench: Bench, prefix: string) => Promise<void>): Promise<void> {
      const clock = new ManualClock()
      const prefix = freshPrefix()
      await using backend = await openFresh({ clock, fastPaths, prefix })
      await work(new Bench(backend, clock), prefix)
    }

    test('jobs are claimed by priority, then by time, then by id, whatever their names and queues are', () =>
      program(async (bench) => {
        const random = seededRandom(7)
        const wanted = times(1_600, (index) => ({
          job: `name-${index}`,
          queue: `queue-${Math.floor(random() * 400)}`,
          priority: Math.floor(random() * 4),
          runAt: bench.clock.now() - Math.floor(random() * 50),
        }))
        const ids = await bench.send(...wanted)
        const sent = wanted.map((each, index) => ({ ...each, id: ids[index] as string }))
        const order = sent.toSorted((a, b) => b.priority - a.priority || a.runAt - b.runAt || (a.id < b.id ? -1 : 1))
        const claimed: string[] = []
        for (const limit of [1, 3, 200, 40, 7]) {
          claimed.push(...(await bench.claimedIds({ jobs: [], others: fitting('*'), limit })))
        }
        expect(claimed).toEqual(order.slice(0, 251).map(({ id }) => id))
        const left = order.slice(251)
        const sevens = left.filter(({ job }) => job.endsWith('7')).map(({ id }) => id)
        expect(await bench.claimedIds({ jobs: [], others: fitting('name-*7'), limit: 50 })).toEqual(sevens.slice(0, 50))
        const rest = left.filter(({ job }) => !job.endsWith('7'))
        const byAge = (each: (typeof rest)[number]) => each.runAt - each.priority * 20
        const old = rest.toSorted((a, b) => byAge(a) - byAge(b) || (a.id < b.id ? -1 : 1))
        const aged = await bench.claimedIds({ jobs: [], others: fitting('*[^7]'), ageingMs: 20, limit: 60 })
        expect(aged).toEqual(old.slice(0, 60).map(({ id }) => id))
      }))

    test('jobs of one name are claimed by priority, then by time, then by id, however many queues they are in', () =>
      program(async (bench, prefix) => {
        const random = seededRandom(11)
        const wanted = times(3_000, (index) => ({
          queue: `queue-${index}`,
          priority: index < 2_900 ? 3 : Math.floor(random() * 8),
          runAt: bench.clock.now() - 4_000 + index,
        }))
        const ids = await bench.send(...wanted)
        const sent = wanted.map((each, index) => ({ ...each, id: ids[index] as string }))
        const order = sent.toSorted((a, b) => b.priority - a.priority || a.runAt - b.runAt).map(({ id }) => id)
        for (const [limit, concurrency] of [
          [1, null],
          [30, null],
          [9, 5_000],
        ] as const) {
          expect(await bench.claimedIds({ jobs: [{ job: 'work', concurrency }], limit })).toEqual(order.splice(0, limit))
        }
        expect(await bench.claimedIds({ jobs: unlimited('work'), others: fitting('on*'), limit: 9 })).toEqual(order.splice(0, 9))
        await using client = await rawClient()
        const reads = await readFields(client, `{${prefix}}:`, async () => {
          expect(await bench.claim({ queues: ['queue-2000'] })).toHaveLength(1)
        })
        expect(reads).toBeLessThan(160)
      }))

    test('a job of one name, queue or pattern is found among the others, and no job of a paused queue', () =>
      program(async (bench) => {
        await bench.send(...times(600, (index) => ({ job: `name-${index}` })))
        await bench.send(...times(600, (index) => ({ job: 'same', queue: `queue-${index}` })))
        const [one] = await bench.send({ job: 'one' }, { job: 'two', queue: 'special', delayMs: 100 })
        expect(await bench.backend.patterns?.readyOf(['one', 'two', 'none', 'name-3'])).toEqual(['one', 'name-3'])
        expect(await bench.claimedIds({ jobs: [], others: fitting('on*') })).toEqual([one])
        await bench.store.setPaused({ queue: 'default' }, true)
        expect(await bench.claimedIds({ jobs: [], others: fitting('name-*') })).toEqual([])
        const queues = (await bench.claim({ jobs: [], others: fitting('*'), limit: 3 })).map(({ envelope }) => envelope.queue)
        expect(queues).toEqual(['queue-0', 'queue-1', 'queue-2'])
        await bench.clock.advance(100)
        const later = await bench.claim({ jobs: [], others: fitting('tw*') })
        expect(later.map(({ envelope }) => envelope.job)).toEqual(['two'])
        expect(await bench.claimedIds({ jobs: unlimited('same'), others: fitting('tw*'), limit: 2 })).toHaveLength(2)
      }))

    test('jobs below the limit of a queue are passed over, however many they are', () =>
      program(async (bench) => {
        await bench.send(...times(600, (index) => ({ job: `name-${index}`, queue: 'full', priority: 9 })))
        const [free] = await bench.send({ job: 'name-free', queue: 'free', priority: 1 })
        const queueLimits = [{ queue: 'full', concurrency: 0, rate: null }]
        expect(await bench.claimedIds({ jobs: [], others: fitting('*'), queueLimits, limit: 1 })).toEqual([free])
      }))

    test('counts and ages of one queue or job are read without those of others', () =>
      program(async (bench, prefix) => {
        await bench.send(...times(500, (index) => ({ job: `name-${index}`, queue: `queue-${index}` })))
        const runAt = bench.clock.now() - 1_000
        await bench.send({ job: 'mail', queue: 'one', runAt }, { job: 'mail', queue: 'two' }, { job: 'sms', queue: 'one' })
        await using client = await rawClient()
        const reads = await readFields(client, `{${prefix}}:`, async () => {
          expect(await bench.store.counts({ queue: 'one', job: 'mail', oldest: true })).toMatchObject([
            { queue: 'one', job: 'mail', counts: { ready: 1 }, oldestReadyAt: runAt },
          ])
          expect((await bench.store.counts({ queue: 'one' })).map(({ job }) => job).sort()).toEqual(['mail', 'sms'])
          expect((await bench.store.counts({ job: 'mail' })).map(({ queue }) => queue).sort()).toEqual(['one', 'two'])
          expect(await bench.store.counts({ isSum: true })).toMatchObject([{ counts: { ready: 503 } }])
        })
        expect(reads).toBeLessThan(50)
      }))

    test('a group without tokens is still counted, and its age told', () =>
      program(async (bench) => {
        await bench.send({ job: 'grouped', group: 'a' }, { job: 'grouped', group: 'a' })
        const jobs = byGroup({ rate: { limit: 1, perMs: 60_000 } }, 'grouped')
        expect(await bench.claimedIds({ jobs, limit: 9 })).toHaveLength(1)
        expect(await bench.backend.patterns?.readyOf(['grouped', 'grouped'])).toEqual(['grouped'])
        const [count] = await bench.store.counts({ job: 'grouped', oldest: true })
        expect(count).toMatchObject({ counts: { ready: 1, running: 1 }, oldestReadyAt: bench.clock.now() })
      }))
  },
)
