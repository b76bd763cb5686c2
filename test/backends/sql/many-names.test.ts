import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emptyForMs } from '../../../src/engines/sql/lanes/lane-sweep.ts'
import type { KeyPattern } from '../../../src/queue/rules/claiming/key-pattern.ts'
import { Bench, times, unlimited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock, seededRandom } from '../../../src/testing/manual-clock.ts'
import { mysqlUrl, type SqlEngine } from '../../services.ts'
import { SqlGround } from '../sql-ground.ts'
import { SqliteGround } from '../sqlite-ground.ts'

const servers: readonly SqlEngine[] = mysqlUrl() === null ? ['postgres', 'mariadb'] : ['postgres', 'mariadb', 'mysql']
/** Keys that fit a glob. */
const fitting = (glob: string): KeyPattern => [{ names: [], globs: [glob], mark: 'mock~', marked: 'left out' }]
const every = fitting('*')

describe.each(['sqlite', ...servers] as const)('where nearly every job has a name of its own, on %s,', (engine) => {
  const ground = engine === 'sqlite' ? new SqliteGround() : new SqlGround(engine)
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())

  async function program(work: (bench: Bench, other: Bench) => Promise<void>): Promise<void> {
    const clock = new ManualClock()
    const backends = [await ground.open(clock), await ground.openAgain(clock)] as const
    const [bench, other] = backends.map((backend) => new Bench(backend, clock))
    try {
      await work(bench as Bench, other as Bench)
      expect(await ground.faults()).toEqual([])
    } finally {
      for (const backend of backends) await backend[Symbol.asyncDispose]()
    }
  }

  const lanes = () => ground.query<{ job: string }>('SELECT job FROM {lanes}')

  test('jobs are claimed by priority, then by time, then by id, whatever their names and queues are', () =>
    program(async (bench, other) => {
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
      for (const limit of [1, 3, 200, 40, 7]) claimed.push(...(await other.claimedIds({ jobs: [], others: every, limit })))
      expect(claimed).toEqual(order.slice(0, 251).map(({ id }) => id))
      const left = order.slice(251)
      const [some, rest] = [left.filter(({ job }) => job.endsWith('7')), left.filter(({ job }) => !job.endsWith('7'))]
      const sevens = fitting('name-*7')
      expect(await other.claimedIds({ jobs: [], others: sevens, limit: 50 })).toEqual(some.slice(0, 50).map(({ id }) => id))
      const names = unlimited(...rest.map(({ job }) => job))
      expect(await other.claimedIds({ jobs: names, limit: 100 })).toEqual(rest.slice(0, 100).map(({ id }) => id))
      const aged = { jobs: [], others: fitting('*[^7]'), ageingMs: 20 }
      const byAge = (each: (typeof rest)[number]) => each.runAt - each.priority * 20
      const old = rest.slice(100).toSorted((a, b) => byAge(a) - byAge(b) || (a.id < b.id ? -1 : 1))
      expect(await other.claimedIds({ ...aged, limit: 60 })).toEqual(old.slice(0, 60).map(({ id }) => id))
    }))

  test('a job of one name, queue or pattern is found among the others, and no job of a paused queue', () =>
    program(async (bench, other) => {
      await bench.send(...times(1_200, (index) => ({ job: `name-${index}` })))
      await bench.send(...times(1_200, (index) => ({ job: 'same', queue: `queue-${index}` })))
      const [one, same] = await bench.send({ job: 'one' }, { job: 'same', queue: 'special' })
      expect(await other.backend.patterns?.readyOf(['one', 'none', 'name-3'])).toEqual(expect.arrayContaining(['one', 'name-3']))
      expect(await other.claimedIds({ jobs: unlimited('same'), queues: ['special'] })).toEqual([same])
      expect(await other.claimedIds({ jobs: [], others: fitting('on*') })).toEqual([one])
      expect(await other.store.counts({ job: 'one' })).toMatchObject([{ job: 'one', counts: { ready: 0, running: 1 } }])
      expect((await other.store.counts({ queue: 'queue-3' })).map(({ job }) => job)).toEqual(['same'])
      expect(await other.store.counts({ isSum: true })).toMatchObject([{ counts: { ready: 2_400, running: 2 } }])
      for (const queue of ['queue-0', 'queue-1']) await bench.store.setPaused({ queue }, true)
      const claimed = await other.claim({ jobs: unlimited('same'), limit: 3 })
      expect(claimed.map(({ envelope: { queue } }) => queue)).toEqual(['queue-2', 'queue-3', 'queue-4'])
      expect((await other.store.list({ job: 'name-7', limit: 9 })).map(({ job }) => job)).toEqual(['name-7'])
      expect(await other.store.list({ queue: 'default', state: 'ready', limit: 2_000 })).toHaveLength(1_200)
    }))

  test('limits hold between names that share a queue', () =>
    program(async (bench, other) => {
      const queueLimits = [{ queue: 'narrow', concurrency: 2, rate: null }]
      await bench.send(...times(400, (index) => ({ job: `name-${index}`, queue: 'narrow' })))
      const [free] = await bench.send({ job: 'free' })
      const claimed = await other.claim({ jobs: [], others: every, queueLimits, limit: 10 })
      expect(claimed.map(({ envelope: { job } }) => job)).toEqual(['name-0', 'name-1', 'free'])
      expect(claimed.at(-1)?.envelope.id).toBe(free)
    }))

  test('names whose jobs are gone are forgotten, and found again when they come back', () =>
    program(async (bench, other) => {
      const names = times(1_100, (index) => `name-${index}`)
      await bench.send(...names.map((job) => ({ job })))
      for (let left = names.length; left > 0; left -= 100) {
        const leases = await bench.claim({ jobs: [], others: every })
        await bench.settle(...leases.map((lease) => bench.done(lease)))
      }
      expect((await lanes()).length).toBe(names.length)
      const work = async () => {
        await bench.send(...times(600, (index) => ({ job: `other-${index}` })))
        return (await lanes()).filter(({ job }) => job.startsWith('name-')).length
      }
      expect(await work()).toBe(names.length)
      const later = async () => {
        await bench.clock.advance(emptyForMs + 1)
        return work()
      }
      await expect.poll(later, { timeout: 60_000 }).toBe(0)
      const ids = [await bench.sendOne({ job: 'name-1' }), await other.sendOne({ job: 'name-1' })]
      const claimed = [
        await other.claimedIds({ jobs: unlimited('name-1') }),
        await bench.claimedIds({ jobs: unlimited('name-1') }),
      ]
      expect(claimed).toEqual([ids.toSorted(), []])
    }))

  test('a job that is stored in a lane which somebody has deleted meanwhile is shown, counted and claimed', () =>
    program(async (bench, other) => {
      const id = await bench.sendOne({ job: 'late' })
      await ground.query('DELETE FROM {lanes}')
      expect(await other.record(id)).toMatchObject({ job: 'late', queue: 'default' })
      await bench.send(...times(1_200, (index) => ({ job: `other-${index}` })))
      await expect.poll(() => other.claimedIds({ jobs: unlimited('late') }), { timeout: 60_000 }).toEqual([id])
      expect(await lanes()).toContainEqual({ job: 'late' })
    }))

  test('programs that send jobs of the same new names at once share their lanes', () =>
    program(async (bench, other) => {
      const wanted = times(300, (index) => ({ job: `name-${index}` }))
      await Promise.all([bench, other, bench, other].map((each) => each.send(...wanted)))
      expect(await lanes()).toHaveLength(300)
      expect(await bench.claim({ jobs: [], others: every, limit: 2_000 })).toHaveLength(1_200)
    }))
})
