import { messageOf, TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time/clock.ts'
import { originalRunOf, withoutRetryCounts } from '../../envelope/bedrock-data.ts'
import { wireMetaOf, withWireMeta } from '../../envelope/bedrock-meta.ts'
import { type Envelope, type Opened, openEnvelope } from '../../envelope/envelope.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { type Kept, reseal } from '../../envelope/reseal.ts'
import type { JobRecord } from '../../queue/contract/store.ts'
import { type CatchUpLimits, catchUp } from '../../scheduling/repeating/catch-up.ts'
import { parseRepeat } from '../../scheduling/repeating/repeat.ts'
import type { EndedRun } from '../../scheduling/schedule.ts'
import type { ActiveRun } from '../attempt/active-run.ts'

export interface RepeatingDeps {
  readonly clock: Clock
  readonly keys: KeyRing | null
  /** What a `SCHEDULED` repeat makes up for; by default the last hundred times of the last day. */
  readonly catchUp?: CatchUpLimits
  readonly services: { readonly logger: Logger }
}

const defaultCatchUp: CatchUpLimits = Object.freeze({ withinMs: 86_400_000, cap: 100 })

/** When a job that repeats is to run again. */
export function nextOfRepeat(repeat: string, run: EndedRun, limits: CatchUpLimits = defaultCatchUp): number {
  const schedule = parseRepeat(repeat)
  return catchUp(schedule, schedule.following(run), run.finishedAt, limits)
}

/** The job that a run has completed. */
export interface DoneJob {
  readonly id: string
  readonly job: string
  readonly repeat: string | null
}

/**
 * When a job that was just done is to run again; null if it does not. Also null if its repeat leads beyond the range of valid
 * dates: its work is done, and must not count as failed.
 */
export function nextAfter({ id, job, repeat }: DoneJob, run: EndedRun, deps: RepeatingDeps): number | null {
  if (repeat === null) return null
  try {
    return nextOfRepeat(repeat, run, deps.catchUp)
  } catch (thrown) {
    if (!(thrown instanceof TreadleError)) throw thrown
    deps.services.logger.warn(
      `"${job}" (${id}) does not repeat, because its repeat "${repeat}" has no next time: ${thrown.message}`,
    )
    return null
  }
}

/** A completed run, with the job as it is to run again. */
export interface DoneRun {
  /** As it is stored now if that verifies, otherwise as it was claimed. */
  readonly opened: Opened
  readonly kept: Kept & Pick<Envelope, 'runAt'>
  readonly startedAt: number
  /** The payload for the next run; absent if it stays the same. */
  readonly data?: string
}

/** When it runs again. If a `retryAfter` has moved the job's time, the repeat continues from the original time. */
export function nextRunAt({ opened, kept, startedAt }: DoneRun, deps: RepeatingDeps): number | null {
  const { identity, text } = opened
  if (identity.repeat === null) return null
  const isMoved = wireMetaOf(identity.meta).retryAfter !== '' && identity.repeat.startsWith('SCHEDULED')
  const scheduledAt = (isMoved ? originalRunOf(text) : null) ?? kept.runAt
  return nextAfter(identity, { scheduledAt, startedAt, finishedAt: deps.clock.now() }, deps)
}

/**
 * The envelope of its next run, however it was run; null if it does not run again. Clients of a job server also get the time of
 * its last run.
 */
export function again(run: DoneRun, deps: RepeatingDeps): Envelope | null {
  const runAt = nextRunAt(run, deps)
  if (runAt === null) return null
  const { opened, kept, startedAt, data = opened.text } = run
  const { meta } = opened.identity
  const wire = wireMetaOf(meta)
  const next = withWireMeta(meta, { ...wire, lastRun: startedAt, hasWaited: false, heldUntil: null })
  const payload = wire.retryAfter === '' ? data : withoutRetryCounts(data)
  return reseal(opened, kept, { identity: { meta: next }, payload, runAt }, deps.keys)
}

export interface WrittenDeps extends RepeatingDeps {
  readonly services: RepeatingDeps['services'] & {
    /** A job as it is stored now; null if it is gone, or the backend cannot inspect its jobs. */
    recordOf(id: string): Promise<JobRecord | null>
  }
}

/** A worker's run, with its job as it was claimed. */
export function asClaimed(opened: Opened, { lease, startedAt }: ActiveRun): DoneRun {
  return { opened, kept: lease.envelope, startedAt }
}

/**
 * A worker's run, with its job as it has been changed since it was claimed. Changes that do not verify are ignored: the job runs
 * again as it was claimed, which overwrites them.
 */
export async function asWritten(claimed: Opened, run: ActiveRun, { keys, services }: WrittenDeps): Promise<DoneRun> {
  const before = asClaimed(claimed, run)
  const { id, job } = claimed.identity
  let record: JobRecord | null
  try {
    record = await services.recordOf(id)
  } catch {
    // Its work is done, and its end is stored as soon as the database answers again.
    return before
  }
  try {
    if (record === null) return before
    return { ...before, opened: openEnvelope(record, keys), kept: { ...before.kept, number: record.number, runAt: record.runAt } }
  } catch (thrown) {
    services.logger.warn(`"${job}" (${id}) was changed while it ran, and repeats as it was before: ${messageOf(thrown)}`)
    return before
  }
}
