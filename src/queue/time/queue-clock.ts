import type { Clock } from '../../core/time/clock.ts'
import type { QueueBackend } from '../contract/contract.ts'

/**
 * The time by which the queue decides: the database's clock if it has its own, otherwise the program's. Use it for anything that
 * is compared with instants written by other programs, or written for them.
 */
export function queueClock(backend: Pick<QueueBackend, 'now'>, clock: Clock): Clock {
  const { now } = backend
  if (now === undefined) return clock
  return {
    ...(clock.runsByItself && { runsByItself: true }),
    now,
    random: () => clock.random(),
    timer: (delayMs, run, options) => clock.timer(delayMs, run, options),
  }
}
