import { pause, systemClock } from './clock.ts'

/** Resolves when the work has ended, or after this time. Rejects if the work does so before. A late failure is ignored. */
export async function endedWithin(longestMs: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const ended = work.finally(() => over.abort())
  await Promise.race([ended, pause(systemClock, longestMs, over.signal)])
  ended.catch(() => {})
}
