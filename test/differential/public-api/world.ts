import { type JobBuilder, type Run, type Treadle, treadle } from 'treadle'
import { type TreadleClient, treadleClient } from 'treadle/client'
import { serve } from 'treadle/server'
import type { ManualClock } from 'treadle/testing'
import { pause, systemClock } from '../../../src/core/time/clock.ts'
import type { QueueBackend } from '../../../src/queue/contract/contract.ts'
import { defineJobs, queueName } from './definitions.ts'
import { Normal } from './normal.ts'
import { operations } from './operations.ts'
import type { ApiOperation, ApiProgram } from './program.ts'
import { type Extent, snapshot } from './snapshot.ts'

export interface HeldLease {
  readonly id: string
  readonly token: string
}

/** Something that a program saw: what an operation answered, what a handler was given, an event, or everything that is visible. */
export interface Seen {
  readonly step: number
  readonly what: unknown
}

const signingKey = 'a key of thirty-two bytes or more, for tests only'
const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** How long an operation may take in real time. It hangs if it waits for a clock that nobody moves. */
const longestMs = 60_000

/** One program on one engine. */
export class World {
  readonly clock: ManualClock
  readonly jobs: Treadle
  /** A second program on the same queue, which works while a handler of the first one runs. */
  readonly other: Treadle
  readonly builders: readonly JobBuilder<never, unknown>[]
  readonly leases: HeldLease[] = []
  readonly seen: Seen[] = []
  readonly ids: string[] = []
  readonly #normal: Normal
  readonly #times = new Map<string, number>()
  #step = 0
  #depth = 0

  constructor(backend: QueueBackend, clock: ManualClock, program: ApiProgram) {
    this.clock = clock
    this.#normal = new Normal(clock.now())
    const queues = Object.fromEntries(
      (program.queues ?? []).map(({ concurrency, rate }, index) => [
        queueName(index),
        {
          ...(concurrency !== undefined && { concurrency: Math.max(concurrency, 1) }),
          ...(rate !== undefined && { rate: { limit: Math.max(rate, 1), per: '1m' } }),
        },
      ]),
    )
    const options = { backend: kept(backend), clock, logger, signingKey, queues }
    this.jobs = treadle(options)
    this.other = treadle(options)
    const world = {
      note: (what: unknown) => this.note(what),
      perform: (operation: ApiOperation) => this.perform(operation),
      timesBefore: (id: string) => this.#timesBefore(id),
    }
    this.builders = defineJobs(this.jobs, program, world) as readonly JobBuilder<never, unknown>[]
    defineJobs(this.other, program, world)
    for (const [name, instance] of [
      ['first', this.jobs],
      ['other', this.other],
    ] as const)
      listen(instance, (event, details) => this.note({ event, by: name, ...details }))
  }

  /** Whether an operation is performed by a handler. */
  get isInside(): boolean {
    return this.#depth > 1
  }

  get depth(): number {
    return this.#depth
  }

  note(what: unknown): void {
    this.seen.push({ step: this.#step, what: this.#normal.of(what) })
  }

  /** Performs an operation one millisecond after the last one, so that ids of both programs sort by their creation. */
  async perform(operation: ApiOperation): Promise<void> {
    if (this.#depth === 0) this.#step++
    this.#depth++
    try {
      await this.clock.advance(1)
      this.note({ op: operation.op, answer: await this.#answer(operation) })
    } finally {
      this.#depth--
    }
  }

  async look(extent: Extent): Promise<void> {
    this.note({ snapshot: await snapshot(this, extent).catch((refused: unknown) => ({ refused })) })
  }

  /** Learns of jobs that nobody dispatched by hand. */
  learn(ids: readonly string[]): void {
    for (const id of ids.toSorted()) if (!this.ids.includes(id)) this.ids.push(id)
  }

  id(ref = 0): string {
    const known = this.ids.length
    return known === 0 ? '01990000-0000-7000-8000-000000000000' : (this.ids[Math.abs(Math.trunc(ref)) % known] as string)
  }

  handle(ref = 0): Run {
    return this.jobs.handle(this.id(ref))
  }

  /** The server is there for one call: one that stays would clean up whenever time moves, at its own pace. */
  async overHttp<Answer>(call: (client: TreadleClient) => Promise<Answer>): Promise<Answer> {
    const server = await serve(this.jobs, { port: null, httpPort: 0, dashboard: false })
    try {
      const { host, port } = server.httpAddress ?? { host: '', port: 0 }
      return await call(treadleClient({ url: `http://${host}:${port}` }))
    } finally {
      await server.stop({ graceMs: 0 })
    }
  }

  async close(): Promise<void> {
    await this.jobs.stop()
    await this.other.stop()
  }

  async #answer(operation: ApiOperation): Promise<unknown> {
    const answered = new AbortController()
    const hang = pause(systemClock, longestMs, answered.signal).then(() => {
      if (!answered.signal.aborted) throw new Hang(JSON.stringify(operation))
    })
    try {
      return await Promise.race([operations(operation, this), hang])
    } catch (thrown) {
      if (thrown instanceof Hang) throw thrown
      return { refused: thrown }
    } finally {
      answered.abort()
    }
  }

  #timesBefore(id: string): number {
    const times = this.#times.get(id) ?? 0
    this.#times.set(id, times + 1)
    return times
  }
}

export class Hang extends Error {}

/** The same backend, which stays open when a program is closed. */
function kept(backend: QueueBackend): QueueBackend {
  return new Proxy(backend, {
    get(target, name) {
      if (name === Symbol.asyncDispose) return async () => {}
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const heard = [
  'job:dispatched',
  'job:started',
  'job:succeeded',
  'job:failed',
  'job:dead',
  'job:cancelled',
  'job:skipped',
  'job:snoozed',
  'job:waiting',
  'job:released',
  'job:lost',
  'worker:error',
  'schedule:enqueued',
  'schedule:missed',
] as const

function listen(instance: Treadle, note: (event: string, details: object) => void): void {
  for (const name of heard) instance.on(name, (event) => note(name, event))
}
