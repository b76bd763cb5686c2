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
  /** What a `SCHEDULED` repeat makes up for; the last hundred times of the last day where nothing is said. */
  readonly catchUp?: CatchUpLimits
  readonly services: { readonly logger: Logger }
}

const defaultCatchUp: CatchUpLimits = Object.freeze({ withinMs: 86_400_000, cap: 100 })

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
export function nextAfter({ id, job, repeat }: DoneJob, run: EndedRun, deps: RepeatingDeps): number | null {
  if (repeat === null) return null
  try {
    return nextOfRepeat(repeat, run, deps.catchUp)
  } catch (thrown) {
    if (!(thrown instanceof TreadleError)) throw thrown
    deps.services.logger.warn(
      `"${job}" (${id}) is not done again, for its repeat "${repeat}" has no next time: ${thrown.message}`,
    )
    return null
  }
}

/** A run that has done its job, with the job as it is done again. */
export interface DoneRun {
  /** As it is written now where that verifies, otherwise as it was claimed. */
  readonly opened: Opened
  readonly kept: Kept & Pick<Envelope, 'runAt'>
  readonly startedAt: number
  /** What it is left with; nothing where it keeps what it has. */
  readonly data?: string
}

/** When that is. Where a `retryAfter` has moved the time of the job, it goes on from the time that it had. */
export function nextRunAt({ opened, kept, startedAt }: DoneRun, deps: RepeatingDeps): number | null {
  const { identity, text } = opened
  if (identity.repeat === null) return null
  const isMoved = wireMetaOf(identity.meta).retryAfter !== '' && identity.repeat.startsWith('SCHEDULED')
  const scheduledAt = (isMoved ? originalRunOf(text) : null) ?? kept.runAt
  return nextAfter(identity, { scheduledAt, startedAt, finishedAt: deps.clock.now() }, deps)
}

/** The envelope of its next run, whoever has done it; null where it is done for good. Clients of a job server are told when it last ran. */
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
    /** A job as it is written now; null where it is gone, or the backend cannot look. */
    recordOf(id: string): Promise<JobRecord | null>
  }
}

/** A run of a worker, with its job as it was claimed. */
export function asClaimed(opened: Opened, { lease, startedAt }: ActiveRun): DoneRun {
  return { opened, kept: lease.envelope, startedAt }
}

/**
 * The same with the job as others have changed it since it was claimed. What does not verify is left out: the job is done again as it
 * was claimed, and that is written over it.
 */
export async function asWritten(claimed: Opened, run: ActiveRun, { keys, services }: WrittenDeps): Promise<DoneRun> {
  const before = asClaimed(claimed, run)
  const { id, job } = claimed.identity
  let record: JobRecord | null
  try {
    record = await services.recordOf(id)
  } catch {
    // Its work is done, and its end is written as soon as the database answers again.
    return before
  }
  try {
    if (record === null) return before
    return { ...before, opened: openEnvelope(record, keys), kept: { ...before.kept, number: record.number, runAt: record.runAt } }
  } catch (thrown) {
    services.logger.warn(`"${job}" (${id}) was changed while it ran, and is done again as it was before: ${messageOf(thrown)}`)
    return before
  }
}
