import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/core/time/clock.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { WorkerStore } from '../../src/queue/contract/stores/worker-store.ts'
import { conformanceTitles } from '../../src/testing/conformance/index.ts'
import { type Broken, collect, failuresIn, overlaid, withCoordination } from './broken-backend.ts'

const open = async (clock: Clock) => openMemory({ clock })

describe('the conformance suite', () => {
  it('lists every test by a title of its own', () => {
    const titles = conformanceTitles.map(({ title }) => title)
    expect([...collect(open).tests.keys()]).toEqual(titles)
    expect(new Set(titles).size).toBe(titles.length)
  })

  it('leaves out the test that a gap names, and shows the reason', () => {
    const title = 'a delayed job is claimed at its millisecond and not before'
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

  it.each<[string, string, Broken]>([
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
      'leases that expire',
      (backend) => ({ settle: async (settlements) => (await backend.settle(settlements)).map(() => 'applied' as const) }),
    ],
    ['no rescue', 'leases that expire', (backend) => ({ lease: (request) => backend.lease({ ...request, leaseMs: 1e12 }) })],
    [
      'no bound on rescues',
      'leases that expire',
      (backend) => ({ lease: (request) => backend.lease({ ...request, maxRescues: 1_000 }) }),
    ],
    ['no ear for deaths', 'leases that expire', (backend) => ({ reap: (maxRescues) => backend.reap(maxRescues) })],
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
    ['no idempotency', 'idempotency keys', withCoordination(() => ({ claimOnce: async () => ({ kind: 'claimed' }) }))],
    [
      'no two-phase idempotency',
      'idempotency keys',
      (backend) => ({
        settle: (settlements) =>
          backend.settle(settlements.map((each) => (each.kind === 'done' ? { ...each, once: { key: 'k', keepMs: 1e9 } } : each))),
      }),
    ],
    [
      'no results of idempotency keys',
      'idempotency keys',
      (backend) => ({
        settle: (settlements) =>
          backend.settle(settlements.map((each) => (each.kind === 'done' ? { ...each, result: null } : each))),
      }),
    ],
    [
      'no beginning for good',
      'starting a job that must not start twice',
      () => ({ begin: async (tokens) => tokens.map(() => 'applied') }),
    ],
    [
      'keys held until the end, whatever is said',
      'how long unique keys are held',
      (backend) => ({ send: (envelopes) => backend.send(envelopes.map((each) => ({ ...each, uniqueUntil: 'ended' }))) }),
    ],
    [
      'nothing kept',
      'records of jobs',
      (backend) => ({
        settle: (settlements) => backend.settle(settlements.map((each) => ('keep' in each ? { ...each, keep: false } : each))),
      }),
    ],
    [
      'no numbers',
      'numbers of jobs',
      (backend) => ({ send: (envelopes) => backend.send(envelopes.map((each) => ({ ...each, number: null }))) }),
    ],
    [
      'nothing done again',
      'repeating a job',
      (backend) => ({
        settle: (settlements) =>
          backend.settle(
            settlements.map((each) =>
              each.kind === 'again' ? { token: each.token, kind: 'done', result: null, keep: false } : each,
            ),
          ),
      }),
    ],
    [
      'amendments of waiting jobs alone',
      'amending in any state',
      ({ store }) => ({
        store: overlaid(store, {
          amend: (changes) =>
            store.amend(
              changes.map((change) => {
                if (!('envelope' in change)) return change
                const { inAnyState: _, ...amendment } = change
                return amendment
              }),
            ),
        }),
      }),
    ],
    [
      'amendments that move the job',
      'amending and keeping the time',
      ({ store }) => ({
        store: overlaid(store, {
          amend: (changes) =>
            store.amend(
              changes.map((change) => {
                if (!('envelope' in change)) return change
                const { keepsTime: _, ...amendment } = change
                return amendment
              }),
            ),
        }),
      }),
    ],
    [
      'workers that never leave',
      'presence of workers',
      ({ store }) => ({ store: overlaid(store, { workers: overlaid(store.workers, { leave: async () => {} }) }) }),
    ],
    [
      'workers that never die',
      'presence of workers',
      ({ store }) => {
        const announce: WorkerStore['announce'] = (worker) => store.workers.announce(worker, 1e12)
        return { store: overlaid(store, { workers: overlaid(store.workers, { announce }) }) }
      },
    ],
    ['no closing', 'closing', () => ({ [Symbol.asyncDispose]: async () => {} })],
  ])('notices a backend with %s', async (_, group, breakIt) => {
    expect(await failuresIn(group, breakIt)).not.toEqual([])
  })
})
