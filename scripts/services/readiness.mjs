import { setTimeout as pause } from 'node:timers/promises'

const patienceMs = 60_000
const betweenMs = 20

/**
 * Resolves when the server answers. Rejects when it has ended, or does not answer for too long.
 *
 * @param {() => Promise<void>} ping
 * @param {() => boolean} hasEnded
 */
export async function answering(ping, hasEnded) {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      await ping()
      return
    } catch (cause) {
      if (hasEnded()) throw new Error('it ended while it started', { cause })
      if (performance.now() > deadline) throw new Error(`it does not answer after ${patienceMs / 1000} s`, { cause })
    }
    await pause(betweenMs)
  }
}
