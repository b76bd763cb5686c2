import assert from 'node:assert/strict'
import type { Lease } from '../../../queue/contract/contract.ts'
import { seededRandom } from '../../manual-clock.ts'
import { type Bench, byGroup, times } from '../bench.ts'
import type { Group } from '../suite.ts'
import { claimedGroups } from './group-limits.ts'

export const fairShares: Group = {
  title: 'fair shares of groups',
  needs: [],
  tests: {
    'groups take turns within one claim, also without a limit': async (bench) => {
      await bench.send(...times(6, () => ({ group: 'a' })), ...times(3, () => ({ group: 'b' })), { group: 'c' })
      assert.deepEqual(await claimedGroups(bench, { limit: 10 }), ['a', 'b', 'c', 'a', 'b', 'a', 'b', 'a', 'a', 'a'])
    },
    'groups take turns from claim to claim': async (bench) => {
      await bench.send(...times(20, () => ({ group: 'a' })), ...times(3, () => ({ group: 'b' })))
      const seen: (string | null)[] = []
      for (let round = 0; round < 7; round++) {
        const lease = (await bench.claim({ limit: 1 }))[0] as Lease
        seen.push(lease.envelope.group)
        await bench.settle(bench.done(lease))
      }
      assert.deepEqual(seen, ['a', 'b', 'a', 'b', 'a', 'b', 'a'])
    },
    'the group with the fewest running jobs comes first': async (bench) => {
      await bench.send(...times(5, () => ({ group: 'a' })))
      await bench.claim({ limit: 3 })
      await bench.send(...times(5, () => ({ group: 'b' })))
      assert.deepEqual(await claimedGroups(bench, { limit: 5 }), ['b', 'b', 'b', 'a', 'b'])
    },
    'the jobs of one group keep their order': async (bench) => {
      const now = bench.clock.now()
      const [late, early, middle] = await bench.send(
        { group: 'a', runAt: now - 1 },
        { group: 'a', runAt: now - 9 },
        { group: 'a', runAt: now - 5 },
      )
      assert.deepEqual(await bench.claimedIds(), [early, middle, late])
    },
    'new groups do not get ahead of waiting ones': async (bench) => {
      await bench.send(...times(3, () => ({ group: 'a' })), ...times(2, () => ({ group: 'old' })))
      const first = await bench.claim({ limit: 2 })
      await bench.settle(...first.map((lease) => bench.done(lease)))
      const seen: (string | null)[] = []
      for (let round = 0; round < 4; round++) {
        await bench.sendOne({ group: `new-${round}` })
        const [lease] = await bench.claim({ limit: 1 })
        seen.push(lease?.envelope.group as string)
        await bench.settle(bench.done(lease as Lease))
      }
      assert.ok(seen.slice(0, 3).includes('old'), `a group that waited was passed by newcomers: ${seen.join(', ')}`)
    },
    'priority comes before fair shares': async (bench) => {
      await bench.send(...times(3, () => ({ group: 'a', priority: 9 })), { group: 'b', priority: 5 })
      assert.deepEqual(await claimedGroups(bench, { limit: 4 }), ['a', 'a', 'a', 'b'])
    },
    ...Object.fromEntries(
      [1, 2, 3, 4].map((seed) => [
        `a group with ready work and nothing running is served before another is served twice (seed ${seed})`,
        (bench: Bench) => new FairnessProgram(bench, seededRandom(seed)).run(),
      ]),
    ),
  },
}

const names = times(8, (index) => `group-${index}`)

/** Random arrivals, claims and ends of jobs of equal priority, checked against the promised bound. */
class FairnessProgram {
  readonly #bench: Bench
  readonly #random: () => number
  readonly #ready = new Map<string, number>()
  readonly #running = new Map<string, number>()
  readonly #leases: Lease[] = []
  /** For each group that waits with nothing running: how often each other group has been served since. */
  readonly #passed = new Map<string, Map<string, number>>()

  constructor(bench: Bench, random: () => number) {
    this.#bench = bench
    this.#random = random
  }

  async run(): Promise<void> {
    for (let step = 0; step < 150; step++) {
      const dice = this.#random()
      if (dice < 0.35) await this.#send()
      else if (dice < 0.75) await this.#claim()
      else await this.#end()
      this.#watch()
    }
  }

  async #send(): Promise<void> {
    // A few groups send most of the jobs.
    const group = names[Math.floor(this.#random() ** 2 * names.length)] as string
    const count = 1 + Math.floor(this.#random() * 4)
    await this.#bench.send(...times(count, () => ({ group })))
    change(this.#ready, group, count)
  }

  async #claim(): Promise<void> {
    const leases = await this.#bench.claim({
      jobs: byGroup({ concurrency: 3 }),
      limit: 1 + Math.floor(this.#random() * 3),
    })
    for (const lease of leases) {
      const group = lease.envelope.group as string
      this.#leases.push(lease)
      change(this.#ready, group, -1)
      change(this.#running, group, 1)
      this.#serve(group)
      this.#watch()
    }
  }

  async #end(): Promise<void> {
    const [lease] = this.#leases.splice(Math.floor(this.#random() * this.#leases.length), 1)
    if (lease === undefined) return
    const isBack = this.#random() < 0.2
    await this.#bench.settle(isBack ? this.#bench.retry(lease) : this.#bench.done(lease, { keep: this.#random() < 0.5 }))
    const group = lease.envelope.group as string
    change(this.#running, group, -1)
    if (isBack) change(this.#ready, group, 1)
  }

  #watch(): void {
    for (const group of names) {
      const isWaiting = (this.#ready.get(group) ?? 0) > 0 && (this.#running.get(group) ?? 0) === 0
      if (!isWaiting) this.#passed.delete(group)
      else if (!this.#passed.has(group)) this.#passed.set(group, new Map())
    }
  }

  #serve(served: string): void {
    this.#passed.delete(served)
    for (const [waiting, others] of this.#passed) {
      change(others, served, 1)
      assert.ok((others.get(served) as number) < 2, `${served} was served twice while ${waiting} waited`)
    }
  }
}

function change(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
