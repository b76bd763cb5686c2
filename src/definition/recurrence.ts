import { messageOf, TreadleError } from '../core/errors.ts'
import { shown } from '../core/text/shown.ts'
import { type Duration, formatDuration, parseDuration } from '../core/time/duration.ts'
import { type Instant, parseInstant } from '../core/time/instant.ts'
import { parseCron } from '../scheduling/calendar/cron/cron.ts'
import { parseZone } from '../scheduling/calendar/zone.ts'
import {
  defaultMisfire,
  type MisfireKind,
  type MisfireOptions,
  type MisfirePolicy,
  misfirePolicy,
} from '../scheduling/misfire.ts'
import { parseRepeat } from '../scheduling/repeating/repeat.ts'
import { describedSchedule } from '../scheduling/saying/expression.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import { endingAt } from '../scheduling/until.ts'
import { jobNameProblem } from './names.ts'
import { type Overlap, overlapOf, overlapProblem } from './policies/overlap.ts'

/** When a schedule created at run time is due, and what happens to runs that are late or overlap. */
export interface Recurrence {
  readonly key: string
  readonly kind: RecurrenceKind
  /** The cron expression, interval or repeat expression, as it was given. */
  readonly said: string
  readonly timezone: string
  /** No run is due after this instant. */
  readonly until: number | null
  readonly misfire: MisfirePolicy
  readonly overlap: Overlap
}

export type RecurrenceKind = 'cron' | 'every' | 'repeat'

/** When a schedule runs. Give exactly one of `cron`, `every` and `repeat`; everything else is optional. */
export interface RecurrenceOptions {
  /** A cron expression: five fields, six with seconds first, or a macro such as `@daily`. */
  readonly cron?: string | undefined
  /** A fixed interval in whole seconds, counted from when the last run was due. The first run is due at once. */
  readonly every?: Duration | undefined
  /** A repeat expression, counted from the previous run: `FINISHED, +1 HOUR`. */
  readonly repeat?: string | undefined
  /** The IANA time zone of a `cron`; defaults to the time zone of the program. */
  readonly timezone?: string | null
  /** No run is due after this instant. */
  readonly until?: Instant | null
  /** What to do about missed runs. Defaults to `latest`, or to `all` for a `repeat`. */
  readonly misfire?: MisfireKind | ({ readonly kind: MisfireKind } & MisfireOptions) | null
  /** What to do while an earlier run is unfinished. Defaults to `skip`, or to `queue` for a `cron` with misfire `all`. */
  readonly overlap?: Overlap | null
}

const kinds: readonly RecurrenceKind[] = ['cron', 'every', 'repeat']

/** Prefix of schedules created at run time. Schedules defined in code are named after their jobs, which never start with it. */
export const storedPrefix = 'stored:'

/** The name of a schedule created at run time, which sets it apart from schedules defined in code. */
export function storedName(key: string): string {
  return storedPrefix + key
}

/** The key of a schedule created at run time; null if the name belongs to a schedule defined in code. */
export function storedKey(name: string): string | null {
  return name.startsWith(storedPrefix) ? name.slice(storedPrefix.length) : null
}

/** Throws `SCHEDULE_INVALID` if the options are invalid. */
export function parseRecurrence(key: string, options: RecurrenceOptions, timezone: string): Recurrence {
  const problem = jobNameProblem(key, "a schedule's key")
  if (problem !== undefined) throw new TreadleError('SCHEDULE_INVALID', problem)
  try {
    return soundRecurrence(key, options, timezone)
  } catch (thrown) {
    throw new TreadleError('SCHEDULE_INVALID', `Schedule ${JSON.stringify(key)}: ${messageOf(thrown)}`, { cause: thrown })
  }
}

function soundRecurrence(key: string, options: RecurrenceOptions, timezone: string): Recurrence {
  const given = kinds.filter((kind) => options[kind] != null)
  const [kind, ...others] = given
  if (kind === undefined || others.length > 0)
    throw invalid(`give one of cron, every and repeat, got ${given.join(' and ') || 'none'}`)
  if (kind !== 'cron' && options.timezone != null) throw invalid(`${kind} counts from the previous run: give no timezone`)
  const until = options.until == null ? null : parseInstant(options.until, 'until')
  const said = saidOf(kind, options)
  const when = { key, kind, said, timezone: kind === 'cron' ? (options.timezone ?? timezone) : 'UTC', until }
  parseZone(when.timezone)
  const schedule = scheduleOf(when)
  const misfire = misfireOf(options.misfire, kind, schedule)
  const overlap = options.overlap ?? null
  const problem = overlapProblem(overlap) ?? contradiction(overlap, misfire, schedule)
  if (problem !== undefined) throw invalid(problem)
  return { ...when, misfire, overlap: overlapOf({ schedule, overlap, misfire }) }
}

function saidOf(kind: RecurrenceKind, { cron, every, repeat }: RecurrenceOptions): string {
  if (kind === 'every') return saidInterval(every as Duration)
  const text: unknown = kind === 'cron' ? cron : repeat
  if (typeof text !== 'string') throw invalid(`${kind} must be a string`)
  if (text.length > longestSaid) throw invalid(`${kind} must have at most ${longestSaid} characters, got ${text.length}`)
  // Rejects a repeat that does not move forward in time, as for schedules defined in code.
  if (kind === 'repeat') describedSchedule((words) => words.repeat(text)).toSchedule()
  return text
}

const longestSaid = 1_000
const longestIntervalMs = 99_999_999_000

function saidInterval(every: Duration): string {
  const ms = parseDuration(every, 'every')
  if (ms < 1_000 || ms % 1_000 !== 0 || ms > longestIntervalMs)
    throw invalid(`every must be a whole number of seconds, from 1s to 1157d, got ${shown(every)}`)
  return formatDuration(ms)
}

/** A missed interval is caught up once; a repeat catches up, as it does when defined in code. */
function misfireOf(given: RecurrenceOptions['misfire'], kind: RecurrenceKind, schedule: Schedule): MisfirePolicy {
  if (given == null) return kind === 'every' ? misfirePolicy('latest') : defaultMisfire(schedule)
  if (typeof given === 'string') return misfirePolicy(given)
  const { kind: policy, ...options } = given
  return misfirePolicy(policy, options)
}

function contradiction(overlap: Overlap | null, misfire: MisfirePolicy, { kind }: Schedule): string | undefined {
  if (overlap !== 'skip' || misfire.kind !== 'all' || kind !== 'calendar') return undefined
  return 'overlap skip and misfire all contradict each other, since missed runs that are caught up would skip one another: use queue'
}

/** Builds the schedule. */
export function scheduleOf({ kind, said, timezone, until }: Omit<Recurrence, 'misfire' | 'overlap'>): Schedule {
  if (kind === 'every') return parseRepeat(`SCHEDULED, +${parseDuration(said, 'every') / 1_000} SECONDS`)
  if (kind === 'repeat') return parseRepeat(said)
  const schedule = parseCron(said, timezone)
  return until === null ? schedule : endingAt(schedule, until)
}

/** The fields in the fixed order in which they are signed. */
export function recurrenceFields({ key, kind, said, timezone, until, misfire, overlap }: Recurrence): readonly unknown[] {
  const cap = misfire.kind === 'all' ? misfire.cap : null
  return [key, kind, said, timezone, until, misfire.kind, misfire.withinMs, cap, overlap]
}

/** Parses the output of `recurrenceFields`; undefined if it is invalid. */
export function recurrenceOf(fields: unknown): Recurrence | undefined {
  if (!Array.isArray(fields) || fields.length !== 9) return undefined
  const [key, kind, said, timezone, until, misfireKind, withinMs, cap, overlap] = fields as readonly unknown[]
  const isSound =
    typeof key === 'string' &&
    kinds.includes(kind as RecurrenceKind) &&
    typeof said === 'string' &&
    typeof timezone === 'string' &&
    (until === null || Number.isSafeInteger(until)) &&
    (withinMs === null || Number.isSafeInteger(withinMs)) &&
    overlap !== null &&
    overlapProblem(overlap) === undefined
  const misfire = misfireFrom(misfireKind, withinMs as number | null, cap)
  if (!isSound || misfire === undefined) return undefined
  return { key, kind, said, timezone, until, misfire, overlap } as Recurrence
}

function misfireFrom(kind: unknown, withinMs: number | null, cap: unknown): MisfirePolicy | undefined {
  if (kind === 'latest' && cap === null) return { kind, withinMs }
  if (kind === 'skip' && cap === null && withinMs !== null) return { kind, withinMs }
  if (kind === 'all' && withinMs !== null && Number.isSafeInteger(cap)) return { kind, withinMs, cap: cap as number }
  return undefined
}

function invalid(why: string): TreadleError {
  return new TreadleError('SCHEDULE_INVALID', why)
}
