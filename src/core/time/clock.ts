import { computedMs, monotonicMs } from '../process/process-time.ts'

/** The only source of time and randomness. Tests replace it with a clock that they move by hand. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** Set if the clock advances by itself, like the system clock. Absent if it is moved by hand. */
  readonly runsByItself?: true
  /** Uniform in [0, 1). */
  random(): number
  /** Calls `run` once after `delayMs` unless cancelled. An unreferenced timer does not keep the process alive. */
  timer(delayMs: number, run: () => void, options?: { readonly unref?: boolean }): Timer
  /** Milliseconds since some moment. It cannot be set, but may stop while the machine sleeps. Defaults to `now`. */
  monotonic?(): number
  /** CPU time of this process in milliseconds, across all its threads. Absent if unknown. */
  computed?(): number
}

/** A timer that can be cancelled. */
export interface Timer {
  cancel(): void
}

/** The longest delay of a Node timer. A longer one would fire at once, so it is split into parts. */
const maxTimerMs = 2 ** 31 - 1

/** The system's time and randomness. */
export const systemClock: Clock = {
  runsByItself: true,
  now: () => Date.now(),
  random: () => Math.random(),
  monotonic: () => performance.now(),
  computed: computedMs,
  timer(delayMs, run, options) {
    let handle: NodeJS.Timeout
    const wait = (leftMs: number) => {
      const partMs = Math.min(leftMs, maxTimerMs)
      handle = setTimeout(() => (leftMs > partMs ? wait(leftMs - partMs) : run()), partMs)
      // Timers in browsers have no `unref`.
      if (options?.unref) handle.unref?.()
    }
    wait(Math.max(delayMs, 0))
    return { cancel: () => clearTimeout(handle) }
  },
}

/**
 * A reading of a clock, to be used later and perhaps in another thread: a clock that advances by itself has moved on by as much
 * as the machine has measured since. A plain number comes from a clock that stands still.
 */
export type TimeReading = number | { readonly now: number; readonly takenAtMs: number }

export function readTime(clock: Clock): TimeReading {
  return clock.runsByItself ? runningFrom(clock.now()) : clock.now()
}

export function runningFrom(now: number): TimeReading {
  return { now, takenAtMs: monotonicMs() }
}

/** The current time of the clock that was read. */
export function timeNow(reading: TimeReading): number {
  return typeof reading === 'number' ? reading : reading.now + Math.floor(monotonicMs() - reading.takenAtMs)
}

/** Returns a function that gives the milliseconds since this call. For durations, which a stepped clock would distort. */
export function stopwatch(): () => number {
  const start = performance.now()
  return () => performance.now() - start
}

/** A stopwatch that uses this clock. */
export function stopwatchOf(clock: Clock): () => number {
  const read = () => clock.monotonic?.() ?? clock.now()
  const start = read()
  return () => read() - start
}

/**
 * An upper bound of the time that has passed, for deadlines that must not be missed: a clock can be set back, and a stopwatch may
 * omit the time that the machine slept, so the greater of the two counts.
 */
export function longestSince(clock: Clock): () => number {
  const elapsedMs = stopwatchOf(clock)
  const start = clock.now()
  return () => Math.max(elapsedMs(), clock.now() - start)
}

/** Resolves after the events that have arrived so far have been handled. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Resolves after `delayMs`, or as soon as the signal aborts. It never rejects: the caller checks the signal. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.timer(delayMs, end)
    signal?.addEventListener('abort', end)
  })
}

/** How long, in real time, a clock that is moved by hand can delay a retry. */
const longestStandstillMs = 1_000

/**
 * Waits before a database call is retried. A clock that is moved by hand and stands still must not block the retry, so real time
 * counts as well.
 */
export async function pauseBeforeRetry(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (clock === systemClock) return pause(clock, delayMs, signal)
  const over = new AbortController()
  const either = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])
  await Promise.race([pause(clock, delayMs, either), pause(systemClock, Math.max(delayMs, longestStandstillMs), either)])
  over.abort()
}
