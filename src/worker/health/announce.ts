import type { Events } from '../../core/events.ts'
import type { Logger } from '../../core/logger.ts'
import { writtenReason } from '../../core/text/reason.ts'
import { formatDuration } from '../../core/time/duration.ts'
import type { ActiveRun } from '../../execution/attempt/active-run.ts'
import type { Outcome } from '../../execution/end/outcome.ts'
import type { TreadleEvents } from '../../execution/events.ts'

export interface AnnouncingDeps {
  readonly events: Events<TreadleEvents>
  /** Told what has failed where nobody listens for it: a program must not lose jobs without a word. */
  readonly logger: Logger
}

/** Tells whoever listens how a run ended, after that is on disk. */
export function announce({ events, logger }: AnnouncingDeps, run: ActiveRun, outcome: Outcome, durationMs: number): void {
  if (run.abandoned) events.emit('job:abandoned', run.event)
  switch (outcome.kind) {
    case 'done':
      if (events.has('job:succeeded')) events.emit('job:succeeded', succeeded(run, durationMs))
      return
    case 'retry':
      if (!events.isHeard('job:failed')) logger.warn(failedText(run, outcome))
      events.emit('job:failed', { ...run.event, error: outcome.error, retryInMs: outcome.delayMs })
      return
    case 'dead':
      if (!events.isHeard('job:dead')) logger.error(deadText(run, outcome))
      events.emit('job:dead', { ...run.event, reason: outcome.reason, error: outcome.error })
      return
    case 'cancelled':
      events.emit('job:cancelled', run.event)
      return
    case 'skipped':
      events.emit('job:skipped', { ...run.event, why: outcome.why })
      if (outcome.missedBy !== undefined) events.emit('schedule:missed', { schedule: outcome.missedBy, madeUp: [], leftOut: 1 })
      return
    case 'snooze':
      events.emit('job:snoozed', { ...run.event, delayMs: outcome.delayMs, why: outcome.why ?? null })
      return
    case 'wait':
      events.emit('job:waiting', run.event)
      return
    case 'release':
      events.emit('job:released', run.event)
      return
    case 'lost':
      events.emit('job:lost', run.event)
      return
  }
}

/** Of nearly every job: field by field, which is several times quicker than a copy of the event with one field more. */
function succeeded({ lease, name }: ActiveRun, durationMs: number): TreadleEvents['job:succeeded'] {
  const { envelope, attempt } = lease
  return { id: envelope.id, job: envelope.job, name, queue: envelope.queue, attempt, durationMs }
}

function failedText({ event }: ActiveRun, { error, delayMs }: Extract<Outcome, { kind: 'retry' }>): string {
  const again = `attempt ${event.attempt} failed, the next one is in ${formatDuration(Math.round(delayMs))}`
  return `${event.name} (${event.id}): ${again}: ${writtenReason(error).message}`
}

function deadText({ event }: ActiveRun, { error, reason }: Extract<Outcome, { kind: 'dead' }>): string {
  return `${event.name} (${event.id}) is dead (${reason}) at attempt ${event.attempt}: ${writtenReason(error).message}`
}
