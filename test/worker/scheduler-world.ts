import { silentLogger } from '../../src/core/logger.ts'
import { JobDefinition } from '../../src/definition/definition.ts'
import { type DefinitionFields, definitionDefaults } from '../../src/definition/fields.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import { type Envelope, sealEnvelope } from '../../src/envelope/envelope.ts'
import type { ScheduleEntry, ScheduleStore } from '../../src/queue/contract/schedule-store.ts'
import type { SweepReport, SweepRequest } from '../../src/queue/contract/store.ts'
import { parseCron } from '../../src/scheduling/calendar/cron/cron.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { Scheduler, type SchedulerOptions } from '../../src/worker/scheduler/scheduler.ts'

export const startMs = Date.parse('2026-01-01T00:00:00Z')
export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

interface Wanted extends Partial<Omit<SchedulerOptions, 'definitions' | 'clock'>> {
  readonly definitions: readonly JobDefinition[]
  readonly nowMs?: number
  readonly clock?: ManualClock
  readonly store?: NotedSchedules
}

/** A scheduler on schedules in memory, on a clock that is moved by hand. */
export function schedulerWorld({ definitions, nowMs = startMs, clock = new ManualClock(nowMs), ...given }: Wanted) {
  const { store = notedSchedules(clock), ...options } = given
  const errors: unknown[] = []
  const scheduler = new Scheduler({
    definitions: () => definitions,
    schedules: store.schedules,
    sweep: (request) => store.sweep(request),
    keys: null,
    envelope: async (definition, instant, runAt) => envelopeOf(definition, instant, runAt),
    clock,
    environment: null,
    logger: silentLogger,
    onError: (error) => errors.push(error),
    ...options,
  })
  return { scheduler, store, clock, errors }
}

export type NotedSchedules = ReturnType<typeof notedSchedules>

/** The schedules of a queue in memory, and how they were called. */
export function notedSchedules(clock: ManualClock) {
  const backend = openMemory({ clock })
  const inner = backend.store.schedules
  const noted = {
    backend,
    calls: [] as string[],
    registered: [] as (readonly ScheduleEntry[])[],
    /** The instants of each call, offered or not. */
    enqueued: [] as number[][],
    forgotten: [] as number[],
    stored: [] as { readonly schedule: string; readonly at: number; readonly envelope: Envelope }[],
    /** So many calls of `register` fail. */
    failures: 0,
    beforeRegister: async () => {},
    beforeEnqueue: async () => {},
    schedules: {} as ScheduleStore,
    async sweep(request: SweepRequest): Promise<SweepReport> {
      note('sweep')
      if ('before' in request) noted.forgotten.push(request.before)
      return backend.store.sweep(request)
    },
    names: () => [...new Set(noted.stored.map(({ schedule }) => schedule))].sort(),
    times: (name: string) =>
      noted.stored
        .filter(({ schedule }) => schedule === name)
        .map(({ at }) => at)
        .sort((a, b) => a - b),
  }
  const note = (name: string) => noted.calls.push(name)
  noted.schedules = {
    async register(entries) {
      note('register')
      await noted.beforeRegister()
      if (noted.failures-- > 0) throw new Error('the disk is full')
      noted.registered.push(entries)
      await inner.register(entries)
    },
    async enqueue(occurrences) {
      note('enqueue')
      await noted.beforeEnqueue()
      noted.enqueued.push(occurrences.map((occurrence) => occurrence.at))
      const answers = await inner.enqueue(occurrences)
      noted.stored.push(...occurrences.filter((_, index) => answers[index]))
      return answers
    },
    async standings(names) {
      note('standings')
      return inner.standings(names)
    },
    changes: (since, limit) => inner.changes(since, limit),
    occurrences: (query) => inner.occurrences(query),
    neighbours: (key) => inner.neighbours(key),
    markSeen: (keys) => inner.markSeen(keys),
    skipWaiting: (request) => inner.skipWaiting(request),
    change: (name, change) => inner.change(name, change),
    list: () => inner.list(),
  }
  return noted
}

export function job(
  name: string,
  cron: string | null,
  more: Partial<DefinitionFields> & { readonly timezone?: string } = {},
): JobDefinition {
  const { timezone = 'UTC', ...fields } = more
  const schedule = cron === null ? null : parseCron(cron, timezone)
  return new JobDefinition({ ...definitionDefaults, job: name, name, handler: () => null, schedule, timezone, ...fields })
}

export function envelopeOf(definition: JobDefinition, instant: number, runAt = instant): Envelope {
  const { job: key, name, queue, priority, meta, args } = definition.fields
  const identity = { id: `${key}-${instant}`, job: key, name, queue, priority, meta, maxRetries: 0 }
  const rest = { timeoutMs: null, singleInstance: false, idempotencyKey: null, occurrence: instant, repeat: null }
  return sealEnvelope({ ...identity, ...rest }, JSON.stringify(args), { createdAt: startMs, runAt, uniqueKey: null }, null)
}

/** A time of the first of January 2026. */
export function at(time: string): number {
  return Date.parse(`2026-01-01T${time}Z`)
}

export function steps(from: number, to: number, by: number): number[] {
  return Array.from({ length: (to - from) / by + 1 }, (_, index) => from + index * by)
}
