import type { Logger } from '../../core/logger.ts'
import { writtenReason } from '../../core/text/reason.ts'
import { formatDuration } from '../../core/time/duration.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { ActiveRun } from '../../execution/attempt/active-run.ts'
import type { Outcome } from '../../execution/end/outcome.ts'
import type { EventSubject } from '../../execution/event-details.ts'
import { emitEnd, type JobEvents } from '../../execution/job-events.ts'

export interface AnnouncingDeps {
  readonly events: JobEvents
  readonly keys: KeyRing | null
  /** Receives failures for which there is no event listener, so that a program never loses jobs silently. */
  readonly logger: Logger
}

/** Announces the outcome of a run after it is on disk. */
export function announce(deps: AnnouncingDeps, run: ActiveRun, outcome: Outcome, durationMs: number): void {
  const { events, logger, keys } = deps
  const subject = (result?: string | null): EventSubject => {
    const { lease, startedAt } = run
    const endedAt = startedAt + Math.round(durationMs)
    if (result === undefined) return { envelope: lease.envelope, keys, startedAt, endedAt, durationMs }
    return { envelope: lease.envelope, keys, startedAt, endedAt, durationMs, result }
  }
  if (run.abandoned) events.emit('job:abandoned', run.event, subject())
  if (outcome.kind === 'retry' && !events.isHeard('job:failed')) logger.warn(failedText(run, outcome))
  if (outcome.kind === 'dead' && !events.isHeard('job:dead')) logger.error(deadText(run, outcome))
  // Fast path: most runs succeed, and there is no listener.
  if (outcome.kind === 'done' && !events.has('job:succeeded')) return
  emitEnd(events, { event: run.event, outcome, durationMs, subject })
}

/** The job of a run, for listeners that want more details. */
export function subjectOf({ lease, startedAt }: ActiveRun, keys: KeyRing | null): EventSubject {
  return { envelope: lease.envelope, keys, startedAt }
}

function failedText({ event }: ActiveRun, { error, delayMs }: Extract<Outcome, { kind: 'retry' }>): string {
  const again = `attempt ${event.attempt} failed, the next one is in ${formatDuration(Math.round(delayMs))}`
  return `${event.name} (${event.id}): ${again}: ${writtenReason(error).message}`
}

function deadText({ event }: ActiveRun, { error, reason }: Extract<Outcome, { kind: 'dead' }>): string {
  return `${event.name} (${event.id}) is dead (${reason}) at attempt ${event.attempt}: ${writtenReason(error).message}`
}
