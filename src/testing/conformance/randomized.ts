import assert from 'node:assert/strict'
import type { Lease } from '../../queue/contract/contract.ts'
import { finalStates, isFinal } from '../../queue/contract/job-state.ts'
import type { OccurrenceKey } from '../../queue/contract/schedule-store.ts'
import { seededRandom } from '../manual-clock.ts'
import type { Bench } from './bench.ts'
import { limited, times, unlimited } from './bench.ts'
import { nonZeroCounts, reality } from './managing/listing.ts'
import type { Group } from './suite.ts'

const limit = 3
const jobs = [...limited('narrow', limit), ...unlimited('wide')]
const steps = 300

export const randomized: Group = {
  title: 'random programs',
  needs: ['store'],
  tests: Object.fromEntries(
    [1, 2, 3].map((seed) => [
      `a random program keeps counts true, limits kept, jobs from being lost and outcomes with their occurrences (seed ${seed})`,
      (bench) => new Program(bench, seededRandom(seed)).run(),
    ]),
  ),
}

/** Random operations, with invariants that must hold after each of them. */
class Program {
  readonly #bench: Bench
  readonly #random: () => number
  readonly #leases = new Map<string, Lease>()
  readonly #occurrences: OccurrenceKey[] = []
  #stored = 0

  constructor(bench: Bench, random: () => number) {
    this.#bench = bench
    this.#random = random
  }

  async run(): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const operation = this.#pick(this.#operations)
      await operation()
      if (step % 10 === 0) await this.#check(step)
    }
    await this.#check(steps)
    await this.#drain()
  }

  readonly #operations: readonly (() => Promise<void>)[] = [
    () => this.#send(),
    () => this.#send(),
    () => this.#enqueue(),
    () => this.#claim(),
    () => this.#claim(),
    () => this.#settle(),
    () => this.#settle(),
    () => this.#bench.clock.advance(this.#whole(2_000)),
    () => this.#change(),
    () => this.#remove(),
  ]

  async #send(): Promise<void> {
    const envelopes = times(1 + this.#whole(5), () =>
      this.#bench.envelope({
        job: this.#pick(['narrow', 'wide', 'foreign']),
        queue: this.#pick(['a', 'b']),
        priority: this.#whole(3),
        delayMs: this.#pick([0, 0, 500, 5_000]),
        uniqueKey: this.#pick([null, null, 'x', 'y']),
        singleInstance: false,
      }),
    )
    const receipts = await this.#bench.backend.send(envelopes)
    this.#stored += receipts.filter(({ stored }) => stored).length
  }

  async #enqueue(): Promise<void> {
    const { clock, store } = this.#bench
    const at = clock.now() + this.#pick([-2_000, 0, 1, 500, 5_000])
    const schedule = this.#pick(['narrow', 'wide'])
    const uniqueKey = this.#pick([null, null, 'x'])
    const envelope = this.#bench.envelope({ job: schedule, queue: 'a', runAt: at, occurrence: at, uniqueKey })
    const [isStored] = await store.schedules.enqueue([{ schedule, at, envelope }])
    if (!isStored) return
    this.#stored++
    this.#occurrences.push({ schedule, at })
  }

  async #claim(): Promise<void> {
    const owner = this.#pick(['worker-1', 'worker-2'])
    const leases = await this.#bench.claim({
      jobs,
      owner,
      limit: 1 + this.#whole(5),
      leaseMs: 1_000 + this.#whole(2_000),
      maxRescues: 2,
    })
    for (const lease of leases) this.#leases.set(lease.token, lease)
  }

  async #settle(): Promise<void> {
    const leases = [...this.#leases.values()].slice(0, 1 + this.#whole(4))
    const ends = [
      ...this.#bench.endings(),
      (lease: Lease) => this.#bench.retry(lease, this.#whole(1_000)),
      this.#bench.snooze.bind(this.#bench),
    ]
    const settlements = leases.map((lease) => this.#pick(ends)(lease))
    const receipts = await this.#bench.backend.settle(settlements)
    receipts.forEach((receipt, index) => {
      const settlement = settlements[index]
      this.#leases.delete(settlement?.token as string)
      if (receipt === 'applied' && settlement?.kind === 'done' && !settlement.keep) this.#stored--
    })
  }

  async #change(): Promise<void> {
    const record = this.#pick(await this.#bench.store.list({ limit: 20 }))
    if (record === undefined) return
    const change = this.#pick(['cancel', 'reschedule', 'retry'] as const)
    if (change === 'cancel') await this.#bench.store.cancel(record.id)
    else if (change === 'retry') await this.#bench.store.retry([record.id])
    else await this.#bench.store.amend([{ id: record.id, runAt: this.#bench.clock.now() + this.#whole(3_000) }])
  }

  async #remove(): Promise<void> {
    this.#stored -= await this.#bench.store.remove({ state: this.#pick(finalStates), limit: 1 + this.#whole(3) })
  }

  async #check(step: number): Promise<void> {
    const records = await this.#bench.store.list({ limit: 100_000 })
    assert.equal(records.length, this.#stored, `stored jobs after step ${step}`)
    assert.deepEqual(await nonZeroCounts(this.#bench), await reality(this.#bench), `counts after step ${step}`)
    const narrow = records.filter(({ job, state }) => job === 'narrow' && state === 'running')
    assert.ok(narrow.length <= limit, `${narrow.length} limited jobs run at once after step ${step}`)
    const keys = records.filter(
      ({ uniqueKey, state }) => uniqueKey !== null && !(finalStates as readonly string[]).includes(state),
    )
    assert.equal(
      new Set(keys.map(({ job, uniqueKey }) => `${job} ${uniqueKey}`)).size,
      keys.length,
      `unique keys after step ${step}`,
    )
    await this.#checkOccurrences(step)
    assert.ok(
      records.every(({ attempts, rescues }) => attempts >= 0 && rescues >= 0),
      `attempts and rescues after step ${step}`,
    )
  }

  /** An occurrence reports the state of its job, or its last state once the job is gone. */
  async #checkOccurrences(step: number): Promise<void> {
    const { store } = this.#bench
    const found = await store.schedules.occurrences({ keys: this.#occurrences })
    for (const [index, occurrence] of found.entries()) {
      assert.ok(occurrence, `occurrence ${index} after step ${step}`)
      const { jobId, outcome, startedAt, finishedAt } = occurrence
      const job = await store.get(jobId)
      if (job === null) assert.notEqual(outcome, null, `the outcome of the deleted job ${jobId} after step ${step}`)
      else {
        const expected = isFinal(job.state) ? [job.state, job.startedAt, job.finishedAt] : [null, null, null]
        assert.deepEqual([outcome, startedAt, finishedAt], expected, `the outcome of job ${jobId} after step ${step}`)
      }
    }
  }

  /** In the end every job that may run does run: none is stuck between two places. */
  async #drain(): Promise<void> {
    const { clock, store } = this.#bench
    await clock.advance(10_000)
    const request = { jobs: unlimited('narrow', 'wide', 'foreign'), limit: 1_000, maxRescues: 1_000 }
    for (let leases = await this.#bench.claim(request); leases.length > 0; leases = await this.#bench.claim(request)) {
      await this.#bench.settle(...leases.map((lease) => this.#bench.done(lease, { keep: true })))
    }
    for (const state of ['ready', 'scheduled', 'blocked', 'running'] as const) {
      assert.deepEqual(await store.list({ state, limit: 10 }), [], `jobs left ${state}`)
    }
  }

  #whole(below: number): number {
    return Math.floor(this.#random() * below)
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#whole(items.length)] as Item
  }
}
