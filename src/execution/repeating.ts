import type { Clock } from '../core/clock.ts'
import type { Envelope, Identity } from '../envelope/envelope.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import { reseal } from '../envelope/reseal.ts'
import { type CatchUpLimits, catchUp } from '../scheduling/repeating/catch-up.ts'
import { parseRepeat } from '../scheduling/repeating/repeat.ts'
import type { EndedRun } from '../scheduling/schedule.ts'
import type { ActiveRun } from './active-run.ts'

export interface RepeatingDeps {
  readonly clock: Clock
  readonly keys: KeyRing | null
}

/** What a `SCHEDULED` repeat makes up for where nothing else is said. */
export const defaultCatchUp: CatchUpLimits = Object.freeze({ withinMs: 86_400_000, cap: 100 })

/** When a job that repeats is to be done again. */
export function nextOfRepeat(repeat: string, run: EndedRun, limits: CatchUpLimits = defaultCatchUp): number {
  const schedule = parseRepeat(repeat)
  return catchUp(schedule, schedule.following(run), run.finishedAt, limits)
}

/** The envelope of the next run of a job that has just been done; null where it is done once. */
export function again({ lease, startedAt }: ActiveRun, identity: Identity, { clock, keys }: RepeatingDeps): Envelope | null {
  if (identity.repeat === null) return null
  const { envelope } = lease
  const run = { scheduledAt: envelope.runAt, startedAt, finishedAt: clock.now() }
  return reseal(envelope, { identity, payload: envelope.payload, runAt: nextOfRepeat(identity.repeat, run) }, keys)
}
