import type { JobRecord } from '../backends/store.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { wireMetaOf, withWireMeta } from '../envelope/bedrock-meta.ts'
import { type Envelope, type Identity, type Opened, openEnvelope } from '../envelope/envelope.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import { reseal } from '../envelope/reseal.ts'
import { type CatchUpLimits, catchUp } from '../scheduling/repeating/catch-up.ts'
import { parseRepeat } from '../scheduling/repeating/repeat.ts'
import type { EndedRun } from '../scheduling/schedule.ts'
import type { ActiveRun } from './active-run.ts'

export interface RepeatingDeps {
  readonly clock: Clock
  readonly keys: KeyRing | null
  readonly services: {
    readonly logger: Logger
    /** A job as it is written now; null where it is gone, or the backend can not look. */
    recordOf(id: string): Promise<JobRecord | null>
  }
}

/** What a `SCHEDULED` repeat makes up for where nothing else is said. */
export const defaultCatchUp: CatchUpLimits = Object.freeze({ withinMs: 86_400_000, cap: 100 })

/** When a job that repeats is to be done again. */
export function nextOfRepeat(repeat: string, run: EndedRun, limits: CatchUpLimits = defaultCatchUp): number {
  const schedule = parseRepeat(repeat)
  return catchUp(schedule, schedule.following(run), run.finishedAt, limits)
}

/** The job that a run has done. */
export interface DoneJob {
  readonly id: string
  readonly job: string
  readonly repeat: string | null
}

/**
 * When a job that has just been done is to be done again; null where it is done for good. So is one whose repeat leads out of the
 * years that a time can have: its work is done, and must not be taken for failed.
 */
export function nextAfter({ id, job, repeat }: DoneJob, run: EndedRun, logger: Logger, limits?: CatchUpLimits): number | null {
  if (repeat === null) return null
  try {
    return nextOfRepeat(repeat, run, limits)
  } catch (thrown) {
    if (!(thrown instanceof TreadleError)) throw thrown
    logger.warn(`"${job}" (${id}) is not done again, for its repeat "${repeat}" has no next time: ${thrown.message}`)
    return null
  }
}

/**
 * A job that repeats, as others have changed it since it was claimed. One that did not repeat then is not looked at: most do not.
 * What does not verify is left out: the job is done again as it was claimed, and that is written over it.
 */
export async function asWritten(claimed: Opened, { keys, services }: RepeatingDeps): Promise<Opened> {
  const { id, job, repeat } = claimed.identity
  if (repeat === null) return claimed
  let record: JobRecord | null
  try {
    record = await services.recordOf(id)
  } catch {
    // Its work is done, and its end is written as soon as the database answers again.
    return claimed
  }
  try {
    return record === null ? claimed : openEnvelope(record, keys)
  } catch (thrown) {
    services.logger.warn(`"${job}" (${id}) was changed while it ran, and is done again as it was before: ${messageOf(thrown)}`)
    return claimed
  }
}

/** The envelope of the next run of a job that has just been done; null where it is done for good. */
export function again({ lease, startedAt }: ActiveRun, opened: Opened, deps: RepeatingDeps): Envelope | null {
  const { envelope } = lease
  const { identity } = opened
  const run = { scheduledAt: envelope.runAt, startedAt, finishedAt: deps.clock.now() }
  const runAt = nextAfter(identity, run, deps.services.logger)
  return runAt === null ? null : reseal(opened, envelope, { identity: lastBegunAt(identity, startedAt), runAt }, deps.keys)
}

/** Its next claim takes the place of this start in the queue, and clients of a job server are told when it last ran. */
export function lastBegunAt({ meta }: Identity, startedAt: number): Pick<Identity, 'meta'> {
  return { meta: withWireMeta(meta, { ...wireMetaOf(meta), lastRun: startedAt }) }
}
