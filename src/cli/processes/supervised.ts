import { InvalidArgumentError } from 'commander'
import type { Treadle } from '../../app/treadle.ts'
import { systemClock } from '../../core/time/clock.ts'
import { watchParent } from '../../isolation/parent-watch.ts'
import type { RunReport } from '../../worker/runs/report.ts'
import type { ChildMessage } from '../../worker/supervisor/messages.ts'
import { parseChildOrder } from '../../worker/supervisor/parsing.ts'
import { exitCodes } from '../exit-codes.ts'
import { failureOf, UsageError } from '../failure.ts'
import { leaveSignalsToParent } from '../working/signals.ts'

/** What a worker process learns at its start about its place among the others. */
export interface Supervision {
  readonly parent: number
  /** Its number among the processes, from 1. */
  readonly place: number
  /** How long it may take to end after its parent has ended. */
  readonly drainMs: number
}

/** Only the first process follows schedules: more would do no harm, but no good either. */
const schedulingPlace = 1
const usageEveryMs = 1_000

export function supervisionText({ parent, place, drainMs }: Supervision): string {
  return [parent, place, drainMs].join(':')
}

export function readSupervision(text: string): Supervision {
  const [, parent, place, drainMs] = /^(\d+):(\d+):(\d+)$/.exec(text) ?? []
  if (parent === undefined) throw new InvalidArgumentError('It is only for "treadle work --processes" itself.')
  return { parent: Number(parent), place: Number(place), drainMs: Number(drainMs) }
}

/** A worker process that is supervised by another one: stops when told to, or when its parent is gone. */
export class Supervised {
  readonly #stopping = new AbortController()
  readonly #place: number
  #onAbort: () => void = () => {}
  #isAborted = false
  #jobs = 0

  constructor({ parent, place, drainMs }: Supervision) {
    if (process.send === undefined) throw new UsageError('--supervised is only for "treadle work --processes" itself')
    this.#place = place
    const drain = () => this.#stopping.abort()
    leaveSignalsToParent(drain)
    watchParent({ parent, graceMs: drainMs }, drain)
    process.on('disconnect', drain)
    process.on('message', (value: unknown) => {
      const order = parseChildOrder(value)
      if (order === 'abort') this.#abort()
      else if (order === 'drain') drain()
    })
    // Waiting for messages alone must not keep the process alive.
    process.channel?.unref()
  }

  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  get isAborted(): boolean {
    return this.#isAborted
  }

  get followsSchedules(): boolean {
    return this.#place === schedulingPlace
  }

  /** Until the queue is open there is nothing to stop in stages: a request to stop ends the process at once. */
  async whileOpening(opening: Promise<void>): Promise<void> {
    const leave = () => process.exit(exitCodes.interrupted)
    if (this.signal.aborted) leave()
    this.signal.addEventListener('abort', leave)
    await opening.finally(() => this.signal.removeEventListener('abort', leave))
  }

  /** Reports the state of this process to its parent while it works; its usage only if requested. */
  attend(jobs: Treadle, reportsUsage: boolean): void {
    this.#onAbort = () => void jobs.stop({ abort: true })
    jobs.on('worker:started', ({ owner }) => this.#send({ kind: 'ready', owner }))
    jobs.on('job:abandoned', () => this.#send({ kind: 'abandoned' }))
    if (!reportsUsage) return
    for (const name of ['job:succeeded', 'job:failed', 'job:dead', 'job:cancelled'] as const) jobs.on(name, () => this.#jobs++)
    this.#reportUsage()
  }

  async report(report: RunReport): Promise<void> {
    await this.#send({ kind: 'report', report })
  }

  /** Tells the parent, which would restart it, why it could not start or gave up. */
  async failing(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (thrown) {
      const { code, message } = failureOf(thrown)
      await this.#send({ kind: 'failed', code, message })
      throw thrown
    }
  }

  #abort(): void {
    this.#isAborted = true
    this.#stopping.abort()
    this.#onAbort()
  }

  #reportUsage(): void {
    const report = () => {
      void this.#send({ kind: 'usage', jobs: this.#jobs, rssBytes: process.memoryUsage.rss() })
      this.#reportUsage()
    }
    systemClock.timer(usageEveryMs, report, { unref: true })
  }

  /** A parent that is gone cannot be told, which is not an error here. */
  #send(message: ChildMessage): Promise<void> {
    return new Promise((resolve) => {
      if (!process.connected) resolve()
      else process.send?.(message, undefined, undefined, () => resolve())
    })
  }
}
