import { onTestFinished } from 'vitest'
import { type Treadle, type TreadleOptions, treadle } from '../src/app/treadle.ts'
import type { Logger } from '../src/core/logger.ts'
import { openMemory } from '../src/engines/memory/index.ts'
import type { TreadleEvents } from '../src/execution/events.ts'
import type { WholeBackend } from '../src/queue/contract/contract.ts'
import type { JobRecord } from '../src/queue/contract/store.ts'
import { ManualClock } from '../src/testing/manual-clock.ts'

export interface Happened {
  readonly name: keyof TreadleEvents
  readonly event: TreadleEvents[keyof TreadleEvents]
}

/** A program on a queue in memory, on a clock that is moved by hand. */
export interface World {
  readonly jobs: Treadle
  readonly clock: ManualClock
  readonly backend: WholeBackend
  /** What was logged, as `level message`. */
  readonly log: string[]
  readonly happened: Happened[]
  /** The names of what happened, in order. */
  names(): readonly string[]
  record(run: { readonly id: string }): Promise<JobRecord>
  /** Another program on the same queue and clock. */
  other(options?: TreadleOptions): World
}

export function world(options: TreadleOptions = {}): World {
  const clock = new ManualClock()
  return worldOn(openMemory({ clock }), clock, options)
}

export function worldOn(backend: WholeBackend, clock: ManualClock, options: TreadleOptions = {}): World {
  const log: string[] = []
  const happened: Happened[] = []
  const jobs = treadle('memory:', { clock, backend, logger: loggerInto(log), ...options })
  for (const name of eventNames) jobs.on(name, (event) => happened.push({ name, event }))
  onTestFinished(async () => {
    const closing = jobs.close()
    // What a failed test left running is not waited for.
    await clock.advance(60_000)
    await closing
  })
  return {
    jobs,
    clock,
    backend,
    log,
    happened,
    names: () => happened.map(({ name }) => name),
    record: async ({ id }) => (await backend.store.get(id)) as JobRecord,
    other: (others = {}) => worldOn(backend, clock, others),
  }
}

export function loggerInto(lines: string[]): Logger {
  const level = (name: string) => (message: string) => void lines.push(`${name} ${message}`)
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}

/** A promise and the function that resolves it. */
export function gate<Value = void>() {
  let open: (value: Value) => void = () => {}
  const opened = new Promise<Value>((resolve) => {
    open = resolve
  })
  return { open: (value: Value) => open(value), opened }
}

/** Waits for a state, not for a time. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await isSo()); looks++) await nextLook(looks)
}

const quickLooks = 100

/** First each turn of the event loop, then with pauses: a loop without any would take the processor from what is waited for. */
export function nextLook(looks: number): Promise<void> {
  return new Promise((resolve) => (looks < quickLooks ? setImmediate(resolve) : setTimeout(resolve, 2)))
}

/** Ends when the signal aborts, as a well-behaved handler does. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}

const eventNames: readonly (keyof TreadleEvents)[] = [
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
  'job:abandoned',
  'job:overrun',
  'job:unsigned',
  'worker:error',
  'worker:stalled',
  'worker:breaker',
  'worker:load',
  'schedule:enqueued',
  'schedule:missed',
  'schedule:tick',
]
