/** The only source of time and chance. Tests replace it with a clock that they move by hand. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** Uniform in [0, 1). */
  random(): number
  /** Calls `run` once after `delayMs`, unless cancelled. An unreferenced timer does not keep the process alive. */
  timer(delayMs: number, run: () => void, options?: { readonly unref?: boolean }): Timer
  /** Milliseconds since some moment. Nobody can set it, but it may stop while the machine sleeps. `now` where it is not given. */
  monotonic?(): number
}

export interface Timer {
  cancel(): void
}

/** The longest delay that a Node timer can hold; a longer one would fire at once, so it is waited for in parts. */
const maxTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  monotonic: () => performance.now(),
  timer(delayMs, run, options) {
    let handle: NodeJS.Timeout
    const wait = (leftMs: number) => {
      const partMs = Math.min(leftMs, maxTimerMs)
      handle = setTimeout(() => (leftMs > partMs ? wait(leftMs - partMs) : run()), partMs)
      if (options?.unref) handle.unref()
    }
    wait(Math.max(delayMs, 0))
    return { cancel: () => clearTimeout(handle) }
  },
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
