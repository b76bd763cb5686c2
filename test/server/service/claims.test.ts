import { expect, onTestFinished, test } from 'vitest'
import { TreadleError } from '../../../src/core/errors.ts'
import type { LeaseRequest, Settlement } from '../../../src/queue/contract/contract.ts'
import type { KeyPattern } from '../../../src/queue/rules/claiming/key-pattern.ts'
import { ClaimLimits } from '../../../src/server/jobs/claiming/claim-limits.ts'
import { type ClaimRequest, Claims } from '../../../src/server/jobs/claiming/claims.ts'
import { Creating } from '../../../src/server/jobs/creating.ts'
import { GroupCommit } from '../../../src/server/jobs/group-commit.ts'
import { JobNames } from '../../../src/server/jobs/job-names.ts'
import { gate, until, world } from '../../world.ts'

/** Claims on a queue in memory that is asked through `lease`. */
async function claiming(
  lease: (ask: () => Promise<unknown>, request: LeaseRequest) => Promise<unknown> = (ask) => ask(),
  settle: (ask: () => Promise<unknown>) => Promise<unknown> = (ask) => ask(),
) {
  const { jobs, clock, log } = world()
  const queue = await jobs.served()
  const asked: LeaseRequest[] = []
  /** Whether the claims are notified of what happens in the queue. */
  const notified = { isOn: true }
  const { backend } = queue
  const slow = new Proxy(backend, {
    get(target, name) {
      if (name === 'watch') return (onNews: () => void) => target.watch(() => notified.isOn && onNews())
      if (name === 'settle') return (settlements: readonly Settlement[]) => settle(() => target.settle(settlements))
      if (name === 'lease') {
        return (request: LeaseRequest) => {
          asked.push(request)
          return lease(() => target.lease(request), request)
        }
      }
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const watched = { ...queue, backend: slow }
  const names = new JobNames(backend.store)
  const claims = new Claims({ queue: watched, names, limits: new ClaimLimits(queue.registry), maxRescues: 10 })
  onTestFinished(() => claims.stop())
  const creating = new Creating(queue, new GroupCommit())
  const make = async (job: string) => creating.sendAll([await creating.seal({ job, payload: '{}' })])
  const take = (pattern: string, more: Partial<ClaimRequest> = {}) => {
    const names = /[*?[]/.test(pattern) ? null : [pattern]
    const keys: KeyPattern = [{ names: [], globs: [pattern], mark: 'mock~', marked: 'left out' }]
    const choice = { pattern, names, keys, queues: null, priority: null }
    return claims.take({ ...choice, limit: 1, leaseMs: 30_000, owner: 'me', waitMs: 0, signals: [], ...more })
  }
  return { backend, clock, log, asked, make, take, notified }
}

test('everybody who does not wait is answered, whoever stands between them', async () => {
  const { take } = await claiming(async (ask) => {
    await new Promise((resolve) => setImmediate(resolve))
    return ask()
  })
  const answers = ['a', 'b', 'a', 'b', 'a', '*', 'b', 'x*'].map((pattern) => take(pattern))
  expect(await Promise.all(answers)).toEqual(answers.map(() => []))
})

test('a claim that the database refuses keeps nobody else from theirs, and is made again', async () => {
  let refused: string | null = 'bad'
  const { take, clock, log, make } = await claiming(async (ask, { owner }) => {
    if (owner === refused) throw new TreadleError('DATABASE_FAILED', 'The database refuses this claim')
    return ask()
  })
  const first = take('a', { owner: 'bad', waitMs: null })
  await until(() => log.length > 0)
  await make('b')
  expect(await take('b', { waitMs: null })).toHaveLength(1)
  await make('a')
  refused = null
  await clock.advance(1_000)
  expect(await first).toHaveLength(1)
})

test('a claim that fails is made again, also where nothing new has happened', async () => {
  let failures = 1
  const { take, clock, log, make } = await claiming(async (ask) => {
    if (failures-- > 0) throw new Error('the database is away')
    return ask()
  })
  const answer = take('a')
  await until(() => log.length > 0)
  await clock.advance(1_000)
  expect(await answer).toEqual([])
  failures = 1
  const waiting = take('a', { waitMs: 60_000 })
  await make('a')
  await until(() => log.length > 1)
  await clock.advance(1_000)
  expect(await waiting).toHaveLength(1)
})

test.each(['the wait runs out', 'the client goes'])('where %s while a job is being claimed, the job waits again', async (why) => {
  const { opened: claimed, open: go } = gate<void>()
  let failures = 1
  let isUnderWay = false
  const { take, make, clock, backend, log } = await claiming(
    async (ask) => {
      const found = await ask()
      isUnderWay = true
      await claimed
      return found
    },
    async (ask) => {
      if (failures-- > 0) throw new Error('the database is away')
      return ask()
    },
  )
  const client = new AbortController()
  await make('a')
  const waiting = take('a', { waitMs: 5_000, signals: [client.signal] })
  await until(() => isUnderWay)
  if (why === 'the client goes') client.abort()
  else await clock.advance(5_000)
  expect(await waiting).toEqual([])
  go()
  // Also where the first try to put it back fails.
  await until(() => log.length > 0)
  await clock.advance(1_000)
  await until(async () => (await backend.store.list({ limit: 1 }))[0]?.state === 'ready')
  expect(await backend.store.list({ limit: 1 })).toMatchObject([{ state: 'ready', attempts: 0 }])
})

test('who has waited for long is served before those who have just come', async () => {
  const { take, make, clock } = await claiming()
  const served: string[] = []
  const patient = take('x*', { waitMs: 600_000 }).then(() => served.push('patient'))
  await clock.advance(0)
  for (let round = 0; round < 20 && !served.includes('patient'); round++) {
    await make('x1')
    await take('x1').then((leases) => leases.length > 0 && served.push('newcomer'))
    await clock.advance(0)
  }
  await patient
  expect(served.indexOf('patient')).toBeLessThanOrEqual(1)
})

test('a job that arrives between two claims goes to whoever came first, whatever they wait for', async () => {
  let hasJobs = true
  const { take, make, clock, notified } = await claiming(async (ask, { others }) => {
    const found = await ask()
    // The pattern is claimed for first and finds nothing. Then another program makes jobs, and the exact name is claimed for.
    if (!hasJobs && others?.[0]?.globs[0] === 'x*') {
      hasJobs = true
      notified.isOn = false
      for (let made = 0; made < 4; made++) await make('x1')
    }
    return found
  })
  const served: string[] = []
  const wait = async (place: number, pattern: string, more: Partial<ClaimRequest> = {}) => {
    const leases = await take(pattern, { waitMs: 600_000, ...more })
    served.push(...leases.map(({ envelope: { job } }) => `${place} ${pattern}: ${job}`))
  }
  void wait(1, 'x*')
  void wait(2, 'x1')
  void wait(3, 'x*')
  void wait(4, 'y*')
  void wait(5, 'x*', { priority: 20 })
  void wait(6, 'x1')
  await clock.advance(0)
  hasJobs = false
  await make('z')
  await until(() => served.length === 4)
  expect(served).toEqual(['1 x*: x1', '2 x1: x1', '3 x*: x1', '6 x1: x1'])
})

test('one job does not let everybody ask who waits for it', async () => {
  const { take, make, asked, clock } = await claiming()
  const waiting = Array.from({ length: 500 }, (_, index) => take('mail', { waitMs: 600_000, owner: `worker ${index}` }))
  await clock.advance(0)
  const before = asked.length
  await make('mail')
  expect(await Promise.race(waiting)).toHaveLength(1)
  await clock.advance(0)
  expect(asked.length - before).toBeLessThan(5)
  expect(before).toBeLessThan(5)
})

test('waiters for many patterns share a claim, and each job goes to the first of those who wait for it', async () => {
  const { take, make, asked, clock, backend } = await claiming()
  const served: string[] = []
  const wait = async (who: string, pattern: string, limit = 1) => {
    const leases = await take(pattern, { waitMs: 600_000, limit })
    served.push(...leases.map(({ envelope: { job } }) => `${who}: ${job}`))
  }
  void wait('first', 'a/*')
  for (let n = 0; n < 200; n++) void wait(`of ${n}`, `b/${n}/*`)
  void wait('second', '?/*')
  void wait('several', 'c/*', 3)
  await clock.advance(0)
  await make('unwanted')
  await clock.advance(0)
  asked.length = 0
  for (const job of ['nobody', 'b/7/x', 'a/1', 'a/2', 'b/7/y', 'c/1']) {
    await make(job)
    await clock.advance(0)
  }
  expect(served).toEqual(['of 7: b/7/x', 'first: a/1', 'second: a/2', 'several: c/1'])
  expect(asked.length).toBeLessThan(40)
  const counts = await backend.store.counts({ isSum: true })
  expect(counts.map(({ counts: { ready, running } }) => ({ ready, running }))).toEqual([{ ready: 3, running: 4 }])
})

test('a pattern is asked for as a pattern, however many names there are or were', async () => {
  const { take, make, asked, backend } = await claiming()
  await make('old')
  const [lease] = await take('*')
  await backend.settle([{ token: lease?.token as string, kind: 'done', result: null, keep: true }])
  await make('new')
  expect(await take('*')).toHaveLength(1)
  expect(asked.at(-1)).toMatchObject({ jobs: [], others: [{ globs: ['*'] }] })
})
