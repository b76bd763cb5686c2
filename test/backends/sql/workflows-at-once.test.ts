import { describe, expect, test } from 'vitest'
import type { Links } from '../../../src/envelope/envelope.ts'
import type { Lease, Settlement } from '../../../src/queue/contract/contract.ts'
import { Bench, times } from '../../../src/testing/conformance/bench.ts'
import { childOf, waitsFor } from '../../../src/testing/conformance/workflows/links.ts'
import { ManualClock, seededRandom } from '../../../src/testing/manual-clock.ts'
import { SqlGround } from '../sql-ground.ts'

const programCount = 4
const rounds = 25
const policies = ['fail', 'skip', 'ignore', 'continue', 'rescue'] as const

/** One of several programs on the same queue, which all make, run, cancel and put back jobs of the same workflows at the same time. */
class Program {
  readonly #bench: Bench
  readonly #random: (below: number) => number
  /** Known to all programs. */
  readonly #ids: string[]
  readonly #owner: string

  constructor(bench: Bench, seed: number, ids: string[]) {
    const next = seededRandom(seed)
    this.#bench = bench
    this.#random = (below) => Math.floor(next() * below)
    this.#ids = ids
    this.#owner = `worker-${seed}`
  }

  async run(): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await this.#send()
      await this.#work()
      await this.#interfere()
    }
  }

  async #send(): Promise<void> {
    const ids = times(5, () => this.#bench.newId())
    await this.#bench.send(...ids.map((id) => ({ id, links: this.#random(4) === 0 ? null : this.#links() })))
    this.#ids.push(...ids)
  }

  #links(): Links {
    const others = times(this.#random(4), () => this.#any())
    return waitsFor(others, policies[this.#random(policies.length)], { root: `root-${this.#random(5)}` })
  }

  async #work(): Promise<void> {
    const leases = await this.#bench.claim({ limit: 6, owner: this.#owner })
    const settlements: Settlement[] = []
    for (const lease of leases) settlements.push(await this.#handle(lease))
    await this.#bench.backend.settle(settlements)
  }

  async #handle(lease: Lease): Promise<Settlement> {
    const { token } = lease
    const keep = this.#random(3) > 0
    switch (this.#random(8)) {
      case 0:
        return this.#bench.dead(lease, keep)
      case 1:
        return this.#bench.retry(lease)
      case 2:
        return this.#bench.snooze(lease, 10)
      case 3:
        await this.#haveChild(lease)
        return this.#random(2) === 0 ? { token, kind: 'wait' } : this.#bench.done(lease, { keep, result: '"done"' })
      default:
        return this.#bench.done(lease, { keep, result: '1' })
    }
  }

  async #haveChild(lease: Lease): Promise<void> {
    const links = childOf(lease, `child-${this.#random(2)}`, policies[this.#random(4)])
    const [receipt] = await this.#bench.backend.send([this.#bench.envelope({ links })])
    if (receipt?.stored) this.#ids.push(receipt.id)
  }

  async #interfere(): Promise<void> {
    const { store } = this.#bench
    switch (this.#random(6)) {
      case 0:
        await store.cancel(this.#any(), { tree: true })
        break
      case 1:
        await store.retry(times(3, () => this.#any()))
        break
      case 2:
        await store.remove({ state: 'succeeded', limit: 5 })
        break
      case 3:
        await store.cancel(this.#any())
        break
      case 4:
        expect((await store.sweep({ part: 'waits', limit: 1_000 })).changed).toBe(0)
        break
      case 5:
        await this.#bench.clock.advance(20)
    }
  }

  /** One of the last: the others have ended, and nobody is at them. */
  #any(): string {
    return this.#ids.at(-1 - this.#random(Math.min(this.#ids.length, 20))) as string
  }
}

describe('programs that work on the same workflows at the same time', () => {
  test.each(['postgres', 'mariadb'] as const)(
    'leave nothing on %s that waits in vain, and no count that is wrong',
    async (engine) => {
      const ground = new SqlGround(engine)
      await ground.start()
      try {
        const clock = new ManualClock()
        const benches = [new Bench(await ground.open(clock), clock)]
        while (benches.length < programCount) benches.push(new Bench(await ground.openAgain(clock), clock))
        const ids = [...(await (benches[0] as Bench).send({}))]
        await Promise.all(benches.map((bench, index) => new Program(bench, index + 1, ids).run()))
        expect(await ground.faults()).toEqual([])
        await Promise.all(benches.map(({ backend }) => backend[Symbol.asyncDispose]()))
      } finally {
        await ground.stop()
      }
    },
  )
})
