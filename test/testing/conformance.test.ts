import { describe, expect, it } from 'vitest'
import type { QueueBackend } from '../../src/backends/contract.ts'
import { openMemory } from '../../src/backends/memory/index.ts'
import type { Clock } from '../../src/core/clock.ts'
import { backendConformance, conformanceTitles } from '../../src/testing/conformance/index.ts'

/** Collects the suite's tests instead of running them under a framework. */
function collect(open: (clock: Clock) => Promise<QueueBackend>, gaps: Record<string, string> = {}) {
  const tests = new Map<string, () => Promise<void>>()
  const skipped: string[] = []
  const it = Object.assign((title: string, run: () => Promise<void>) => void tests.set(title, run), {
    skip: (title: string) => void skipped.push(title),
  })
  backendConformance({ describe: (_, define) => define(), it }, 'broken', { open, gaps })
  return { tests, skipped }
}

/** The titles that fail on a memory backend in which one thing was broken. */
async function failures(breakIt: (backend: Required<QueueBackend>) => Partial<QueueBackend>): Promise<readonly string[]> {
  const { tests } = collect(async (clock) => {
    const backend = openMemory({ clock })
    const whole: Required<QueueBackend> = {
      kind: 'broken',
      send: (envelopes) => backend.send(envelopes),
      lease: (request) => backend.lease(request),
      settle: (settlements) => backend.settle(settlements),
      extend: (tokens, leaseMs) => backend.extend(tokens, leaseMs),
      reap: (maxRescues) => backend.reap(maxRescues),
      watch: (wake) => backend.watch(wake),
      store: backend.store,
      coordination: backend.coordination,
      [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
    }
    return { ...whole, ...breakIt(backend) }
  })
  const failed: string[] = []
  for (const [title, run] of tests) await run().catch(() => failed.push(title))
  return failed
}

const open = async (clock: Clock) => openMemory({ clock })

describe('the conformance suite', () => {
  it('lists every test by a title of its own', () => {
    const titles = conformanceTitles.map(({ title }) => title)
    expect([...collect(open).tests.keys()]).toEqual(titles)
    expect(new Set(titles).size).toBe(titles.length)
  })

  it('leaves out the test that a gap names, and shows the reason', () => {
    const title = 'a delayed job comes out at its millisecond and not before'
    const { tests, skipped } = collect(open, { [title]: 'it counts in seconds' })
    expect(tests.has(title)).toBe(false)
    expect(skipped).toEqual([`${title} (gap: it counts in seconds)`])
  })

  it('leaves out a whole group that a gap names', () => {
    const { tests, skipped } = collect(open, { 'idempotency keys': 'it has no coordination' })
    const titles = conformanceTitles.filter(({ group }) => group === 'idempotency keys').map(({ title }) => title)
    expect(skipped).toHaveLength(titles.length)
    expect(titles.some((title) => tests.has(title))).toBe(false)
  })

  it('refuses a gap that names nothing', () => {
    expect(() => collect(open, { 'a delayed job comes out': 'renamed long ago' })).toThrow(
      /name no test.*a delayed job comes out/,
    )
  })

  it.each<[string, string, (backend: Required<QueueBackend>) => Partial<QueueBackend>]>([
    [
      'no limits',
      'limits',
      (backend) => ({
        lease: (request) => backend.lease({ ...request, jobs: request.jobs.map(({ job }) => ({ job, concurrency: null })) }),
      }),
    ],
    ['no queue filter', 'claiming', (backend) => ({ lease: (request) => backend.lease({ ...request, queues: null }) })],
    [
      'no announced instants',
      'time',
      (backend) => ({ lease: async (request) => ({ ...(await backend.lease(request)), nextAt: null }) }),
    ],
    [
      'no cancellations',
      'cancelling and rescheduling',
      (backend) => ({ lease: async (request) => ({ ...(await backend.lease(request)), cancelled: [] }) }),
    ],
    [
      'no fencing',
      'leases that run out',
      (backend) => ({ settle: async (settlements) => (await backend.settle(settlements)).map(() => 'applied' as const) }),
    ],
    ['no rescue', 'leases that run out', (backend) => ({ lease: (request) => backend.lease({ ...request, leaseMs: 1e12 }) })],
    [
      'no bound on rescues',
      'leases that run out',
      (backend) => ({ lease: (request) => backend.lease({ ...request, maxRescues: 1_000 }) }),
    ],
    [
      'no unique keys',
      'unique keys',
      (backend) => ({ send: (envelopes) => backend.send(envelopes.map((each) => ({ ...each, uniqueKey: null }))) }),
    ],
    [
      'no priorities',
      'sending',
      (backend) => ({ send: (envelopes) => backend.send(envelopes.map((each) => ({ ...each, priority: 5 }))) }),
    ],
    [
      'no idempotency',
      'idempotency keys',
      () => ({ coordination: { claimOnce: async () => 'claimed', sweepOnce: async () => 0 } }),
    ],
    [
      'no two-phase idempotency',
      'idempotency keys',
      (backend) => ({
        settle: (settlements) =>
          backend.settle(settlements.map((each) => (each.kind === 'done' ? { ...each, once: { key: 'k', keepMs: 1e9 } } : each))),
      }),
    ],
    [
      'nothing kept',
      'records of jobs',
      (backend) => ({
        settle: (settlements) => backend.settle(settlements.map((each) => ('keep' in each ? { ...each, keep: false } : each))),
      }),
    ],
    ['no closing', 'closing', () => ({ [Symbol.asyncDispose]: async () => {} })],
  ])('notices a backend with %s', async (_, group, breakIt) => {
    const failed = await failures(breakIt)
    const groupTitles = conformanceTitles.filter((title) => title.group === group).map(({ title }) => title)
    expect(failed.filter((title) => groupTitles.includes(title))).not.toEqual([])
  })
})
