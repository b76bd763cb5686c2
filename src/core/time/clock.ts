import { computedMs, monotonicMs } from '../process/process-time.ts'

/** The only source of time and chance. Tests replace it with a clock that they move by hand. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** Says that it goes on by itself, as a machine's does, also while nobody looks. Absent where it is moved by hand. */
  readonly runsByItself?: true
  /** Uniform in [0, 1). */
  random(): number
  /** Calls `run` once after `delayMs`, unless cancelled. An unreferenced timer does not keep the process alive. */
  timer(delayMs: number, run: () => void, options?: { readonly unref?: boolean }): Timer
  /** Milliseconds since some moment. Nobody can set it, but it may stop while the machine sleeps. `now` where it is not given. */
  monotonic?(): number
  /** Milliseconds that this process has computed, all its threads together. Absent where that is not known. */
  computed?(): number
}

/** A timer that can be cancelled. */
export interface Timer {
  cancel(): void
}

/** The longest delay that a Node timer can hold; a longer one would fire at once, so it is waited for in parts. */
const maxTimerMs = 2 ** 31 - 1

/** The system's own time and randomness. */
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
      // A browser's timer has no such thing.
      if (options?.unref) handle.unref?.()
    }
    wait(Math.max(delayMs, 0))
    return { cancel: () => clearTimeout(handle) }
  },
}

/**
 * What a clock said, to be read later and perhaps in another thread: one that runs by itself has gone on since, by as much as
 * the machine has measured. A number is that of a clock which stands still.
 */
export type TimeReading = number | { readonly now: number; readonly takenAtMs: number }

export function readTime(clock: Clock): TimeReading {
  return clock.runsByItself ? runningFrom(clock.now()) : clock.now()
}

export function runningFrom(now: number): TimeReading {
  return { now, takenAtMs: monotonicMs() }
}

/** What the clock says by now. */
export function timeNow(reading: TimeReading): number {
  return typeof reading === 'number' ? reading : reading.now + Math.floor(monotonicMs() - reading.takenAtMs)
}

/** Starts to measure; each call of the answer gives the milliseconds since. For durations, where a stepped clock would lie. */
export function stopwatch(): () => number {
  const start = performance.now()
  return () => performance.now() - start
}

/** A stopwatch of this clock. */
export function stopwatchOf(clock: Clock): () => number {
  const read = () => clock.monotonic?.() ?? clock.now()
  const start = read()
  return () => read() - start
}

/**
 * The longest time that may have passed since, for what must not be over: a clock can be set back, and a stopwatch may leave out
 * the time that the machine slept, so the greater of the two counts.
 */
export function longestSince(clock: Clock): () => number {
  const elapsedMs = stopwatchOf(clock)
  const start = clock.now()
  return () => Math.max(elapsedMs(), clock.now() - start)
}

/** Resolves after the events that have arrived so far were handled. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Resolves after `delayMs`, or at once when the signal aborts. It never rejects: the caller looks at the signal. */
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

/** A clock that is moved by hand decides for so long, in real time. */
const longestStandstillMs = 1_000

/**
 * Before a call to a database is made again. Its time is not the program's clock: one that is moved by hand, and stands still
 * meanwhile, does not keep the call from being made.
 */
export async function pauseBeforeRetry(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (clock === systemClock) return pause(clock, delayMs, signal)
  const over = new AbortController()
  const either = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])
  await Promise.race([pause(clock, delayMs, either), pause(systemClock, Math.max(delayMs, longestStandstillMs), either)])
  over.abort()
}
