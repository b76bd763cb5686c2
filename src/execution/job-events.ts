import type { Events } from '../core/events.ts'
import { type Envelope, parseIdentity } from '../envelope/envelope.ts'
import type { KeyRing } from '../envelope/keys/key-ring.ts'
import type { QueueBackend, SendReceipt } from '../queue/contract/contract.ts'
import type { Outcome } from './end/outcome.ts'
import type { EventSubject } from './event-details.ts'
import type { JobEventName, RunEvent, TreadleEvents } from './events.ts'

/** The events of a program, with the jobs they are about. */
export type JobEvents = Events<TreadleEvents, EventSubject>

/** Emits events for jobs that were stored. A job whose unique key was taken was not. */
export function emitDispatched(
  events: JobEvents,
  envelopes: readonly Envelope[],
  receipts: readonly SendReceipt[],
  keys: KeyRing | null,
  inTransaction = false,
): void {
  if (!events.has('job:dispatched')) return
  for (const [index, envelope] of envelopes.entries()) {
    if (receipts[index]?.stored !== true) continue
    const { id, job, queue, runAt, createdAt } = envelope
    const { name = job } = parseIdentity(envelope.identity) ?? {}
    const dueAt = Math.max(runAt, createdAt)
    events.emit('job:dispatched', { id, job, name, queue, dueAt, ...(inTransaction && { inTransaction }) }, { envelope, keys })
  }
}

/** A backend's `send` that emits events for the jobs it stored. */
export function announcedSend(send: QueueBackend['send'], events: JobEvents, keys: KeyRing | null): QueueBackend['send'] {
  const announced: QueueBackend['send'] = async (envelopes) => {
    const receipts = await send(envelopes)
    emitDispatched(events, envelopes, receipts, keys)
    return receipts
  }
  return (envelopes) => (events.has('job:dispatched') ? announced(envelopes) : send(envelopes))
}

/** How a run ended, for its events. */
export interface EndedRun {
  readonly event: RunEvent
  readonly outcome: Outcome
  readonly durationMs: number
  /** Called only if there are listeners, with the result of a job that succeeded. */
  readonly subject: (result?: string | null) => EventSubject
}

/** The event that reports each outcome. */
export const outcomeEvents = {
  done: 'job:succeeded',
  retry: 'job:failed',
  dead: 'job:dead',
  cancelled: 'job:cancelled',
  skipped: 'job:skipped',
  snooze: 'job:snoozed',
  wait: 'job:waiting',
  release: 'job:released',
  lost: 'job:lost',
} as const satisfies Readonly<Record<Outcome['kind'], JobEventName>>

/** Emits how a run ended, after that is on disk. */
export function emitEnd(events: JobEvents, { event, outcome, durationMs, subject }: EndedRun): void {
  switch (outcome.kind) {
    case 'done': {
      // Field by field: most runs end here, and V8 copies objects several times slower.
      const { id, job, name, queue, attempt } = event
      if (events.has('job:succeeded'))
        events.emit('job:succeeded', { id, job, name, queue, attempt, durationMs }, subject(outcome.result))
      return
    }
    case 'retry':
      events.emit('job:failed', { ...event, error: outcome.error, retryInMs: outcome.delayMs }, subject())
      return
    case 'dead':
      events.emit('job:dead', { ...event, reason: outcome.reason, error: outcome.error }, subject())
      return
    case 'cancelled':
      events.emit('job:cancelled', event, subject())
      return
    case 'skipped':
      events.emit('job:skipped', { ...event, why: outcome.why }, subject())
      if (outcome.missedBy !== undefined) events.emit('schedule:missed', { schedule: outcome.missedBy, madeUp: [], leftOut: 1 })
      return
    case 'snooze':
      events.emit('job:snoozed', { ...event, delayMs: outcome.delayMs, why: outcome.why ?? null }, subject())
      return
    case 'wait':
      events.emit('job:waiting', event, subject())
      return
    case 'release':
      events.emit('job:released', event, subject())
      return
    case 'lost':
      events.emit('job:lost', event, subject())
      return
  }
}
