/** The only source of time and chance. Tests replace it with a clock that they move by hand. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** Uniform in [0, 1). */
  random(): number
  /** Calls `run` once after `delayMs`, unless cancelled. An unreferenced timer does not keep the process alive. */
  timer(delayMs: number, run: () => void, options?: { readonly unref?: boolean }): Timer
}

export interface Timer {
  cancel(): void
}

/** The longest delay that a Node timer can hold; a longer one would fire at once, so it is waited for in parts. */
const maxTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
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
