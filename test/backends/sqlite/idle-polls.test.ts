import type { QueueBackend } from 'treadle'
import { openSqlite } from 'treadle/sqlite'
import { ManualClock } from 'treadle/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LeaseRequest } from '../../../src/queue/contract/contract.ts'
import type { JobStore } from '../../../src/queue/contract/store.ts'
import { Bench, byGroup, limited, times, unlimited, type Wanted } from '../../../src/testing/conformance/bench.ts'
import { connect, scratchFolder } from '../../processes/database.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const hour = 3_600_000

/** A queue in a file, and another program that can keep everybody from writing to it. */
async function contended() {
  const folder = scratchFolder()
  const path = folder.file('jobs.db')
  const clock = new ManualClock()
  const backend = (await openSqlite({ path, clock, logger: silent })) as QueueBackend & { readonly store: JobStore }
  const other = connect(path)
  onTestFinished(async () => {
    other.close()
    await backend[Symbol.asyncDispose]()
    folder.remove()
  })
  return {
    bench: new Bench(backend, clock),
    /** Where the work wanted to write, it would wait for longer than a test may take. */
    async whileLocked<Answer>(work: () => Promise<Answer>): Promise<Answer> {
      other.exec('BEGIN IMMEDIATE')
      const answer = await work()
      other.exec('ROLLBACK')
      return answer
    },
  }
}

type Held = { readonly sent: readonly Wanted[]; readonly request: Partial<LeaseRequest> }

const grouped = times(3, () => ({ group: 'acme' }))
const held: Readonly<Record<string, Held>> = {
  'the concurrency of a job': { sent: times(3, () => ({})), request: { jobs: limited('work', 1) } },
  'a job that runs alone': { sent: times(3, () => ({ singleInstance: true })), request: { jobs: unlimited('work') } },
  'the rate of a job': {
    sent: times(3, () => ({})),
    request: { jobs: [{ job: 'work', concurrency: null, rate: { limit: 1, perMs: hour } }] },
  },
  'the concurrency of a queue': {
    sent: times(3, () => ({})),
    request: { queueLimits: [{ queue: 'default', concurrency: 1, rate: null }] },
  },
  'the concurrency of a group': { sent: grouped, request: { jobs: byGroup({ concurrency: 1 }) } },
  'the rate of a group': { sent: grouped, request: { jobs: byGroup({ rate: { limit: 1, perMs: hour } }) } },
}

describe('a poll that finds nothing it may claim leaves the write lock to others', () => {
  it.each(Object.entries(held))('where %s keeps all jobs waiting', async (_, { sent, request }) => {
    const { bench, whileLocked } = await contended()
    await bench.send(...sent)
    const first = await bench.lease(request)
    expect(first.leases).toHaveLength(1)
    await bench.clock.advance(1)
    const { leases, nextAt } = await whileLocked(() => bench.lease(request))
    expect(leases).toEqual([])
    expect(nextAt).toBe(first.nextAt)
  })

  it('and one that looks for jobs that wait in vain, where there is none', async () => {
    const { bench, whileLocked } = await contended()
    const first = await bench.sendOne()
    const links = { root: 'flow', parent: null, waitsFor: [{ id: first, onFailure: 'fail' as const }], longestWaitMs: hour }
    await bench.send({ links })
    expect(await whileLocked(() => bench.store.sweep({ part: 'waits', limit: 10 }))).toEqual({ looked: 1, changed: 0 })
  })
})

it('groups that come back without a token are held again, and nobody looks at them before the next one', async () => {
  const { bench, whileLocked } = await contended()
  const request = { jobs: byGroup({ rate: { limit: 1, perMs: hour } }), limit: 10_000, leaseMs: hour }
  const sent = times(3_000, (index) => ({ group: `group ${index}` }))
  await bench.send(...sent, ...sent)
  expect(await bench.claim(request)).toHaveLength(3_000)
  await bench.assertNothingClaimable(request)
  await bench.clock.advance(60_000)
  const first = await bench.lease(request)
  const second = await whileLocked(() => bench.lease(request))
  expect([first.leases, second.leases]).toEqual([[], []])
  expect(first.nextAt).toBeGreaterThan(bench.clock.now())
  expect(second.nextAt).toBe(first.nextAt)
})

it('a claim asks again at once where groups without a token came before groups that it has not read', async () => {
  const { bench } = await contended()
  const request = { jobs: byGroup({ rate: { limit: 1, perMs: hour } }), limit: 10 }
  await bench.send({ group: 'a' }, { group: 'b' })
  await bench.settle(...(await bench.claim(request)).map((lease) => bench.done(lease)))
  await bench.send({ group: 'a' }, { group: 'b' }, { group: 'c' })
  const claimed: (string | null)[] = []
  for (let nextAt: number | null = 0; nextAt !== null && nextAt <= bench.clock.now(); ) {
    const batch = await bench.lease({ ...request, limit: 1 })
    claimed.push(...batch.leases.map(({ envelope }) => envelope.group))
    nextAt = batch.leases.length > 0 ? null : batch.nextAt
  }
  expect(claimed).toEqual(['c'])
})
