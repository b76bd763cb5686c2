import type { Events } from '../core/events.ts'
import type { ActiveRun } from '../execution/active-run.ts'
import type { TreadleEvents } from '../execution/events.ts'
import type { Outcome } from '../execution/outcome.ts'

/** Tells whoever listens how a run ended, after that is on disk. */
export function announce(events: Events<TreadleEvents>, run: ActiveRun, outcome: Outcome, durationMs: number): void {
  if (run.abandoned) events.emit('job:abandoned', run.event)
  switch (outcome.kind) {
    case 'done':
      if (events.has('job:succeeded')) events.emit('job:succeeded', { ...run.event, durationMs })
      return
    case 'retry':
      events.emit('job:failed', { ...run.event, error: outcome.error, retryInMs: outcome.delayMs })
      return
    case 'dead':
      events.emit('job:dead', { ...run.event, reason: outcome.reason, error: outcome.error })
      return
    case 'cancelled':
      events.emit('job:cancelled', run.event)
      return
    case 'skipped':
      events.emit('job:skipped', { ...run.event, why: outcome.why })
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
