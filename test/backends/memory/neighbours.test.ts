import { describe, expect, it, vi } from 'vitest'
import { Heap } from '../../../src/core/heap.ts'
import { openMemory } from '../../../src/engines/memory/index.ts'
import type { LeaseRequest } from '../../../src/queue/contract/contract.ts'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { ManualClock, seededRandom } from '../../../src/testing/manual-clock.ts'

type Job = NonNullable<Parameters<Bench['envelope']>[0]>
type Asked = Partial<LeaseRequest>

function program(): Bench {
  const clock = new ManualClock()
  return new Bench(openMemory({ clock }), clock)
}

/** How many places a claim looks at or moves beside what it claims. */
async function lookedAt(jobs: readonly Job[], asked: Asked, before?: Asked): Promise<number> {
  const bench = program()
  await bench.send(...jobs)
  if (before !== undefined) await bench.claim({ ...before, limit: 1 })
  const seen = [vi.spyOn(Heap.prototype, 'add'), vi.spyOn(Heap.prototype, 'remove'), vi.spyOn(Set.prototype, 'has')]
  try {
    expect(await bench.claim({ ...asked, limit: 1 })).toHaveLength(1)
    return seen.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  } finally {
    for (const each of seen) each.mockRestore()
  }
}

describe('a claim in memory costs the same beside 10 and beside 3,000 neighbours', () => {
  const same = async (look: (count: number) => Promise<number>) => {
    const [few, many] = [await look(10), await look(3_000)]
    expect(many).toBeLessThan(few + 20)
  }

  it('that have the same name in other queues', () =>
    same((count) =>
      lookedAt([...times(count, (index) => ({ queue: `queue-${index}` })), { queue: 'mine' }], { queues: ['mine'] }),
    ))

  it('that have the same name in other queues, and must run alone', () =>
    same((count) => {
      const jobs = times(count, (index) => ({ queue: `queue-${index}`, singleInstance: true }))
      return lookedAt([...jobs, { queue: 'mine' }], { queues: ['mine'] })
    }))

  it('that have other names in other queues, for a claim of all names', () =>
    same((count) => {
      const jobs = times(count, (index) => ({ job: `job-${index}`, queue: `queue-${index}` }))
      return lookedAt([...jobs, { queue: 'mine' }], { queues: ['mine'], jobs: [], others: [] })
    }))

  it('that have other names, where the claims before it ordered the jobs by priority', () =>
    same((count) =>
      lookedAt([{}, {}, ...times(count, (index) => ({ job: `job-${index}` }))], { ageingMs: 1_000 }, { ageingMs: null }),
    ))
})

describe('a claim in memory of a few among many queues', () => {
  it.each([{ ageingMs: null }, { ageingMs: 20 }])('takes the best jobs first, with ageing: $ageingMs', async ({ ageingMs }) => {
    const bench = program()
    const random = seededRandom(5)
    const wanted = times(6_000, (index) => ({
      job: `job-${Math.floor(random() * 1_500)}`,
      queue: index < 4_000 ? `queue-${index}` : `mine-${index % 3}`,
      priority: index < 4_000 ? 5 : Math.floor(random() * 5),
      group: index % 4 === 0 ? 'group' : null,
      runAt: bench.clock.now() - 100 + Math.floor(random() * 50),
    }))
    const ids = await bench.send(...wanted)
    const sent = wanted.map((each, index) => ({ ...each, id: ids[index] as string }))
    const rank = ({ priority, runAt }: (typeof sent)[number]) => (ageingMs === null ? -priority : runAt - priority * ageingMs)
    const order = sent
      .filter(({ queue }) => queue === 'mine-1' || queue === 'mine-2')
      .toSorted((a, b) => rank(a) - rank(b) || (ageingMs === null ? a.runAt - b.runAt : 0) || (a.id < b.id ? -1 : 1))
    const asked = { queues: ['mine-1', 'mine-2'], jobs: [], others: [], ageingMs }
    const claimed: string[] = []
    for (const limit of [1, 40, 300, 1_000]) claimed.push(...(await bench.claimedIds({ ...asked, limit })))
    expect(claimed).toEqual(order.slice(0, 1_341).map(({ id }) => id))
  })
})
