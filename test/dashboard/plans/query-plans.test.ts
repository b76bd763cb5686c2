import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Treadle, treadle } from '../../../dist/index.js'
import { type Dashboard, dashboard } from '../../../dist/server/dashboard/index.js'
import { systemClock } from '../../../src/core/time/clock.ts'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import { Bench, times, unlimited } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { opened, type RecordedQueue } from './recorded-queues.ts'

const headers = { 'sec-fetch-site': 'same-origin' }
/** So many that a plan which reads all of them is told from one which does not. */
const many = 12_000

/** Few jobs of a rare name, in a group and with a tag, behind very many others. */
async function fill(backend: RecordedQueue['backend'], jobs: Treadle): Promise<Readonly<Record<string, string>>> {
  const bench = new Bench(backend as unknown as QueueBackend, new ManualClock(systemClock.now()))
  await jobs.dispatchMany(
    'rare',
    times(20, (n) => ({ n })),
    { tags: ['seldom'], group: 'acme' },
  )
  const charge = await jobs.dispatchMany(
    'charge',
    times(30, (n) => ({ n })),
  )
  await jobs.dispatchMany(
    'later',
    times(200, (n) => ({ n })),
    { delay: '1h' },
  )
  const flow = await jobs.chain([jobs.declare('first').step({}), jobs.declare('second').step({})])
  const end = async (names: readonly string[], isDead: boolean) => {
    for (;;) {
      const leases = await bench.claim({ jobs: unlimited(...names), limit: 1_000 })
      if (leases.length === 0) return
      await bench.settle(...leases.map((lease) => (isDead ? bench.dead(lease) : bench.done(lease, { keep: true }))))
    }
  }
  await end(['rare'], false)
  await end(['charge'], true)
  for (let sent = 0; sent < many; sent += 1_000) await bench.send(...times(1_000, () => ({ job: 'plain' })))
  await end(['plain'], false)
  const [running] = await jobs.dispatchMany(
    'held',
    times(5, (n) => ({ n })),
  )
  await bench.claim({ jobs: unlimited('held'), limit: 5 })
  await jobs.dispatchMany(
    'waiting',
    times(100, (n) => ({ n })),
  )
  return { dead: charge[0]?.id ?? '', running: running?.id ?? '', root: flow.id }
}

const pages = [
  'view?topic=overview:1h',
  'view?topic=overview:7d',
  'view?topic=counts',
  'view?topic=queues',
  'view?topic=queue:default',
  'view?topic=schedules',
  'view?topic=schedule:digest',
  'view?topic=workers',
  'view?topic=engine',
  'view?topic=activity',
  'view?topic=job:{dead}',
  'view?topic=job:{running}',
  'view?topic=workflow:{root}',
  'calendar?from={from}&to={to}',
  'workflows',
  'dead',
  'jobs?q=',
  'jobs?q=state:ready',
  'jobs?q=state:scheduled',
  'jobs?q=state:running',
  'jobs?q=state:succeeded',
  'jobs?q=state:dead',
  'jobs?q=queue:default',
  'jobs?q=job:rare',
  'jobs?q=job:rare+state:succeeded',
  'jobs?q=job:plain+state:succeeded',
  'jobs?q=job:plain+state:dead',
  'jobs?q=group:acme',
  'jobs?q=group:acme+job:rare',
  'jobs?q=tag:seldom',
  'jobs?q=root:{root}',
  'jobs?q=id:{dead}',
] as const

describe.each(['sqlite', 'postgres', 'mariadb'] as const)('the queries of the pages, on %s,', (engine) => {
  let queue: RecordedQueue
  let jobs: Treadle
  let shown: Dashboard
  let places: Readonly<Record<string, string>>
  beforeAll(async () => {
    queue = await opened[engine]()
    jobs = treadle({ backend: queue.backend, signingKey: 'a-key-for-the-test-of-the-query-plans' })
    jobs.define('digest', () => {}).dailyAt('02:30')
    for (const name of ['rare', 'charge', 'held', 'waiting', 'later']) jobs.declare(name)
    const now = systemClock.now()
    places = { ...(await fill(queue.backend, jobs)), from: String(now - 3_600_000), to: String(now + 3_600_000) }
    await queue.analyze()
    shown = dashboard(jobs, { authorize: () => ({ role: 'read' }) })
  }, 300_000)
  afterAll(async () => {
    await shown?.close()
    await jobs?.close()
    await queue?.[Symbol.asyncDispose]()
  })

  test.each(pages)('%s reads no more than it shows', async (page) => {
    const path = page.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name] ?? '')
    queue.taken()
    const answer = await shown.fetch(new Request(`http://localhost/-/${path}`, { headers }))
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
    const asked = queue.taken()
    if (page.startsWith('jobs')) expect(asked).not.toEqual([])
    for (const each of asked) expect(await queue.faultsOf(each), each.sql).toEqual([])
    const counting = asked.filter(({ sql }) => /\bCOUNT\(/i.test(sql) && !/root = |schema|migrations/.test(sql))
    expect(counting.map(({ sql }) => sql)).toEqual([])
  })
})
