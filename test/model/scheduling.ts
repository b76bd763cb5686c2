import assert from 'node:assert/strict'
import type { ScheduleStore } from '../../src/queue/contract/schedule-store.ts'
import type { Ground } from './ground.ts'
import type { EnqueueTerms, ModelSchedules } from './model-schedules.ts'
import { instants, type Operation, scheduleNumbers } from './operations.ts'

/** Schedules, and the occurrences that schedulers store. */
export class Scheduling {
  readonly #ground: Ground
  readonly #store: ScheduleStore
  readonly #model: ModelSchedules

  constructor(ground: Ground) {
    this.#ground = ground
    this.#store = ground.store.schedules
    this.#model = ground.schedules
  }

  async register({ schedule, expression, version }: Extract<Operation, { op: 'register' }>): Promise<void> {
    const entry = { name: this.#name(schedule), expression: `${expression} * * * *`, version: `version-${version}` }
    await this.#store.register([{ ...entry, timezone: 'UTC' }])
    this.#model.register(entry.name, entry.expression, entry.version, this.#ground.clock.now())
  }

  async enqueue({ schedule, instant, spec, ...terms }: Extract<Operation, { op: 'enqueue' }>): Promise<void> {
    const name = this.#name(schedule)
    const at = this.#instant(instant)
    const job = { ...this.#ground.newJob({ ...spec, waitsFor: [], group: null }, []), runAt: at, occurrence: at }
    const asked: EnqueueTerms = {
      ...(terms.follows !== null && { follows: terms.follows === 'none' ? null : this.#instant(terms.follows) }),
      ...(terms.version !== null && { version: `version-${terms.version}` }),
      ...(terms.registered && { registered: true as const }),
    }
    const now = this.#ground.clock.now()
    const isFree = this.#ground.model.holderOf(job, now) === undefined
    const expected = this.#model.accepts(name, at, asked) && isFree
    const envelope = this.#ground.envelope(job, null)
    const [stored] = await this.#store.enqueue([{ schedule: name, at, envelope, ...asked }])
    assert.equal(stored, expected, `the occurrence of ${name} at ${instants[instant]}`)
    if (expected) this.#model.store(name, at, job, now)
  }

  async pause(schedule: number): Promise<void> {
    const name = this.#name(schedule)
    assert.equal(await this.#store.change(name, 'pause'), this.#model.pause(name, this.#ground.clock.now()), `pause of ${name}`)
  }

  async resume(schedule: number): Promise<void> {
    const name = this.#name(schedule)
    assert.equal(
      await this.#store.change(name, 'resume'),
      this.#model.resume(name, this.#ground.clock.now()),
      `resume of ${name}`,
    )
  }

  async remove(schedule: number): Promise<void> {
    const name = this.#name(schedule)
    assert.equal(
      await this.#store.change(name, 'remove'),
      this.#model.remove(name, this.#ground.clock.now()),
      `removal of ${name}`,
    )
  }

  async skipWaiting({ schedule, instant, unseenOnly }: Extract<Operation, { op: 'skipWaiting' }>): Promise<void> {
    const name = this.#name(schedule)
    const before = this.#instant(instant)
    const skipped = await this.#store.skipWaiting({ schedule: name, before, unseenOnly, why: 'it was overtaken' })
    assert.equal(
      skipped,
      this.#model.skipWaiting(name, before, unseenOnly, this.#ground.clock.now()),
      `skipped before ${instants[instant]} of ${name}`,
    )
  }

  async markSeen({ schedule, instant }: Extract<Operation, { op: 'markSeen' }>): Promise<void> {
    const key = { schedule: this.#name(schedule), at: this.#instant(instant) }
    await this.#store.markSeen([key])
    this.#model.markSeen(key.schedule, key.at, this.#ground.clock.now())
  }

  async compare(): Promise<void> {
    const now = this.#ground.clock.now()
    const names = scheduleNumbers.map((number) => this.#name(number))
    const keys = names.flatMap((schedule) => instants.map((_, index) => ({ schedule, at: this.#instant(index) })))
    const found = await this.#store.occurrences({ keys })
    for (const [index, { schedule, at }] of keys.entries()) {
      const known = this.#model.at(schedule, at)
      const expected = known === undefined ? null : { jobId: known.jobId, outcome: known.outcome }
      const { jobId, outcome } = found[index] ?? {}
      assert.deepEqual(found[index] === null ? null : { jobId, outcome }, expected, `occurrence ${at} of ${schedule}`)
    }
    for (const { name, version, since, paused, latest } of await this.#store.standings(names)) {
      const { expression: _, ...expected } = this.#model.schedules.get(name) ?? assert.fail(`${name} is not registered`)
      assert.deepEqual({ version, since, paused }, expected, `standing of ${name}`)
      assert.equal(latest?.at, this.#model.of(name).at(-1)?.at, `the latest occurrence of ${name}`)
    }
    const some = keys.filter(({ schedule, at }) => this.#model.at(schedule, at) !== undefined).at(-1)
    if (some === undefined) return
    assert.deepEqual(
      await this.#store.neighbours(some),
      {
        unended: this.#model.unendedBefore(some.schedule, some.at),
        seen: this.#model.isSeen(some.schedule, some.at, now),
      },
      `neighbours of ${some.at} of ${some.schedule}`,
    )
  }

  async cleanUp(): Promise<void> {
    for (const number of scheduleNumbers) await this.#store.change(this.#name(number), 'remove')
  }

  #name(schedule: number): string {
    return this.#ground.named(`schedule-${schedule}`)
  }

  #instant(index: number): number {
    return this.#ground.startedAt + (instants[index] as number)
  }
}
