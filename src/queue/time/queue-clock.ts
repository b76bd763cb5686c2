import type { Clock } from '../../core/time/clock.ts'
import type { QueueBackend } from '../contract/contract.ts'

/**
 * The time by which the queue decides, as a clock: the database's where that has one of its own, else the program's. For whatever is
 * compared with instants that other programs wrote, or is written for them.
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
