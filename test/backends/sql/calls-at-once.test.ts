import { expect, test } from 'vitest'
import type { Lease, LeaseRequest, Settlement } from '../../../src/queue/contract/contract.ts'
import { type Bench, limited, times, unlimited, type Wanted } from '../../../src/testing/conformance/bench.ts'
import { seededRandom } from '../../../src/testing/manual-clock.ts'
import { onSqlDatabases } from './several-programs.ts'

const programCount = 4
const callerCount = 16
const rounds = 6

onSqlDatabases('four programs with sixteen callers each', (programs) => {
  test('send, claim, end, cancel, move, put back and delete the same jobs at once, and no call fails', {
    timeout: 300_000,
  }, async () => {
    await programs.open(programCount, async (benches) => {
      const ids: string[] = []
      const callers = benches.flatMap((bench, program) =>
        times(callerCount, (caller) => new Caller(bench, program * callerCount + caller, ids)),
      )
      await Promise.all(callers.map((caller) => caller.run()))
      expect(ids.length).toBeGreaterThan(1_000)
      expect(await programs.faults()).toEqual([])
    })
  })
})

/** Does what programs do, with jobs that all callers know, in an order of its own. */
class Caller {
  readonly #bench: Bench
  readonly #random: (below: number) => number
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
    const envelopes = times(this.#random(8), () => this.#bench.envelope(this.#wanted()))
    this.#ids.push(...(await this.#bench.backend.send(envelopes)).map(({ id }) => id))
  }

  #wanted(): Wanted {
    const delayMs = this.#random(3) * 1_000
    const kinds: readonly Wanted[] = [
      { job: 'plain', priority: this.#random(3), delayMs },
      { job: 'plain', uniqueKey: `key ${this.#random(5)}` },
      { job: 'plain', uniqueKey: `key ${this.#random(5)}`, uniqueUntil: 'ever' },
      { job: 'narrow', queue: `queue ${this.#random(2)}` },
      { job: 'shared', group: `group ${this.#random(4)}`, delayMs },
    ]
    return kinds[this.#random(kinds.length)] as Wanted
  }

  async #work(): Promise<void> {
    const jobs = [
      ...unlimited('plain'),
      ...limited('narrow', 3),
      { job: 'shared', concurrency: null, group: { concurrency: 1, rate: null } },
    ]
    const request: Partial<LeaseRequest> = this.#random(2) === 0 ? { jobs: unlimited('plain') } : { jobs }
    const leases = await this.#bench.claim({ ...request, limit: 1 + this.#random(10), owner: this.#owner })
    await this.#bench.backend.extend(
      leases.map(({ token }) => token),
      30_000,
    )
    await this.#bench.backend.settle(leases.map((lease) => this.#ending(lease)))
  }

  #ending(lease: Lease): Settlement {
    const endings = [
      () => this.#bench.done(lease, { keep: true }),
      () => this.#bench.done(lease, { keep: true, result: '1' }),
      () => this.#bench.done(lease),
      () => this.#bench.retry(lease, this.#random(2) * 1_000),
      () => this.#bench.snooze(lease),
      () => this.#bench.dead(lease),
    ]
    return (endings[this.#random(endings.length)] as () => Settlement)()
  }

  async #interfere(): Promise<void> {
    const { store, clock, backend } = this.#bench
    const ids = times(4, () => this.#ids[this.#random(this.#ids.length)] as string)
    const ways = [
      () => Promise.all(ids.map((id) => store.cancel(id))),
      () => Promise.all(ids.map((id) => store.amend([{ id, runAt: clock.now() + this.#random(2_000) }]))),
      () => store.retry(ids),
      () => store.remove({ state: 'succeeded', limit: 5 }),
      () => backend.reap(3, [`worker-${this.#random(programCount * callerCount)}`]),
      () => clock.advance(500),
      () => store.counts(),
    ]
    if (this.#ids.length > 0) await (ways[this.#random(ways.length)] as () => Promise<unknown>)()
  }
}
