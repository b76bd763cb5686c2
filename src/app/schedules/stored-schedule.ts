import { messageOf } from '../../core/errors.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { HandlerClass } from '../../definition/handler.ts'
import type { Overlap } from '../../definition/policies/overlap.ts'
import {
  type Recurrence,
  type RecurrenceKind,
  type RecurrenceOptions,
  scheduleOf,
  storedKey,
} from '../../definition/recurrence.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { openSchedule, readSchedule } from '../../envelope/schedule-seal.ts'
import type { OccurrenceRecord, ScheduleRecord, StoredDefinition } from '../../queue/contract/schedule-store.ts'
import type { MisfirePolicy } from '../../scheduling/misfire.ts'
import type { Schedule } from '../../scheduling/schedule.ts'

/** A schedule created at run time: its job, its payload and when it runs. */
export type StoredScheduleOptions<Input = unknown> = Omit<RecurrenceOptions, RecurrenceKind> &
  Frequency &
  ScheduledPayload<Input> & {
    /** The key of a job, its definition, or the class that handles it. */
    readonly job: string | { readonly job: string; toDefinition(): JobDefinition<Input> } | HandlerClass<Input, unknown>
  }

/** Exactly one of `cron`, `every` and `repeat`. */
export type Frequency = { [Kind in RecurrenceKind]: OnlyFrequency<Kind> }[RecurrenceKind]

type OnlyFrequency<Kind extends RecurrenceKind> = { readonly [Name in Kind]: NonNullable<RecurrenceOptions[Name]> } & {
  readonly [Other in Exclude<RecurrenceKind, Kind>]?: undefined
}

/** May be omitted if the handler takes none. */
type ScheduledPayload<Input> = undefined extends Input
  ? {
      /** The payload of each run. Default: the `args` of the definition, or null. */
      readonly payload?: NoInfer<Input>
    }
  : {
      /** The payload of each run. */
      readonly payload: NoInfer<Input>
    }

/** The current state of a schedule that was created at run time. Times are UTC milliseconds. */
export interface StoredSchedule {
  readonly key: string
  readonly job: string
  /** Undefined if it is encrypted and the key is not available here. */
  readonly payload: unknown
  /** Whether the payload is stored encrypted. */
  readonly encrypted: boolean
  readonly kind: RecurrenceKind
  /** The cron expression, interval or repeat text, as it was given. */
  readonly said: string
  /** Normalized form of the schedule: the same text for the same meaning. */
  readonly expression: string
  /** Description of the schedule in words. */
  readonly text: string
  readonly timezone: string
  /** No run is due after this time; null means no limit. */
  readonly until: number | null
  /** What happens to runs that were missed while no scheduler was running. */
  readonly misfire: MisfirePolicy
  /** What happens if a run is due while the previous one is still running. */
  readonly overlap: Overlap
  readonly paused: boolean
  /** When the schedule was created, last changed or last resumed. */
  readonly since: number
  /** The last occurrence that was due, and its outcome. */
  readonly last: OccurrenceRecord | null
  /** When the next run is due, if known. */
  readonly nextAt: number | null
  readonly state: StoredScheduleState
  /** Why this program does not follow the schedule; null if it does. */
  readonly problem: string | null
}

/**
 * `ended`: the last occurrence has passed. `unknown job`: this program does not know the job, though others may. `rejected`: the
 * definition cannot be read or was not signed by a key of this program, so no program with the same keys follows it.
 */
export type StoredScheduleState = 'active' | 'paused' | 'ended' | 'unknown job' | 'rejected'

/** A schedule defined in code or created at run time. */
export interface ListedSchedule extends Omit<ScheduleRecord, 'definition'> {
  /** Null if the schedule is defined in code. */
  readonly stored: StoredSchedule | null
}

export interface StoredScheduleDeps {
  readonly keys: KeyRing | null
  readonly find: (job: string) => JobDefinition | undefined
  readonly now: number
}

export function listedSchedule(record: ScheduleRecord, deps: StoredScheduleDeps): ListedSchedule {
  const { definition, ...rest } = record
  return { ...rest, stored: definition === null ? null : storedSchedule(record, definition, deps) }
}

/** If the definition cannot be read, the schedule is described by the other columns of its record. */
export function storedSchedule(
  { name, expression, timezone, paused, since, last, nextAt }: ScheduleRecord,
  definition: StoredDefinition,
  deps: StoredScheduleDeps,
): StoredSchedule {
  const key = storedKey(name) ?? name
  const written = readSchedule(definition.text)
  const standing = { paused, since, last }
  const schedule = written === undefined ? null : readable(written.recurrence)
  if (written === undefined || schedule === null) {
    return { ...unreadable, key, said: expression, expression, timezone, ...standing, nextAt }
  }
  const { job, recurrence } = written
  const { kind, said, until, misfire, overlap } = recurrence
  const { payload, problem } = openedOrProblem(key, definition, job, deps)
  const isKnown = deps.find(job) !== undefined
  const isOver = until !== null && until < deps.now && nextAt === null
  const state = !isKnown ? 'unknown job' : problem !== null ? 'rejected' : paused ? 'paused' : isOver ? 'ended' : 'active'
  const expected = schedule.kind === 'calendar' && state === 'active' ? schedule.next(deps.now) : null
  return {
    key,
    job,
    payload,
    encrypted: written.isEncrypted,
    kind,
    said,
    expression: schedule.expression,
    text: schedule.explain().text,
    timezone: schedule.timezone,
    until,
    misfire,
    overlap,
    ...standing,
    nextAt: nextAt ?? expected,
    state,
    problem,
  }
}

function readable(recurrence: Recurrence): Schedule | null {
  try {
    return scheduleOf(recurrence)
  } catch {
    return null
  }
}

const unreadable = {
  job: '',
  payload: undefined,
  encrypted: false,
  kind: 'cron',
  text: '',
  until: null,
  misfire: { kind: 'latest', withinMs: null },
  overlap: 'skip',
  state: 'rejected',
  problem: 'its stored form is not a schedule',
} as const

function openedOrProblem(
  key: string,
  definition: StoredDefinition,
  job: string,
  { keys, find }: StoredScheduleDeps,
): Pick<StoredSchedule, 'payload' | 'problem'> {
  const queue = find(job)?.fields.queue
  try {
    const { payload } = openSchedule(key, definition, () => queue ?? '', queue === undefined ? null : keys)
    const problem = queue === undefined ? `the job ${JSON.stringify(job)} is not known in this program` : null
    return { payload: JSON.parse(payload) as unknown, problem }
  } catch (thrown) {
    return { payload: undefined, problem: messageOf(thrown) }
  }
}
