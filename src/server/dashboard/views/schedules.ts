import { nextRunOf } from '../../../app/schedules/next-run.ts'
import { type StoredSchedule, storedSchedule } from '../../../app/schedules/stored-schedule.ts'
import type { JobDefinition } from '../../../definition/definition.ts'
import { scheduleOf } from '../../../definition/recurrence.ts'
import type { OccurrenceRecord, ScheduleRecord } from '../../../queue/contract/schedule-store.ts'
import { lastOccurrences } from '../../../queue/contract/schedule-store.ts'
import type { ExplainedOccurrence, Schedule } from '../../../scheduling/schedule.ts'
import { seesSchedule } from '../../http/permission.ts'
import { HttpProblem } from '../../http/wire/http-problem.ts'
import type { Viewer } from '../access/viewer.ts'
import type { ViewDeps } from '../deps.ts'
import type { CalendarRow, CalendarView, RunView, ScheduleDraft, ScheduleRow, ScheduleView } from '../shared/views/schedule.ts'
import type { Redaction } from './jobs/redaction.ts'

const shownNext = 20
const shownRecent = 60
/** Maximum number of runs of one schedule in a calendar; more are drawn as a band. */
const mostOccurrences = 500
const mostSchedules = 200
const longestSpanMs = 8 * 86_400_000

/** Maximum number of stored schedules that are shown. */
const mostRows = 1_000

export async function scheduleRows(deps: ViewDeps, viewer: Viewer): Promise<readonly ScheduleRow[]> {
  return (await known(deps, viewer)).slice(0, mostRows).map((each) => rowOf(each, deps))
}

export async function scheduleView(deps: ViewDeps, viewer: Viewer, name: string): Promise<ScheduleView> {
  const found = (await known(deps, viewer)).find((each) => each.name === name)
  if (found === undefined) throw new HttpProblem('schedule-not-found', `There is no schedule ${JSON.stringify(name)}`)
  const now = deps.clock.now()
  const row = rowOf(found, deps)
  const runs = found.schedule === null || !hasRuns(row) ? [] : nextOf(found.schedule, row.nextAt, now, shownNext)
  const payload = found.stored === null ? null : shownPayload(found.stored, deps.redaction)
  return {
    ...row,
    payload,
    draft: found.stored === null ? null : storedDraft(found.stored, payload),
    editRefusal: found.stored === null ? 'It is in the code' : storedRefusal(found.stored, deps.redaction),
    warnings: found.schedule?.explain({ from: now }).warnings ?? [],
    next: runs.map(({ at, local, note }) => ({ at, local, note })),
    recent: (await lastOccurrences(deps.store.schedules, name, now, shownRecent)).map(runView),
  }
}

export async function calendarView(deps: ViewDeps, viewer: Viewer, from: number, to: number): Promise<CalendarView> {
  if (!(to > from) || to - from > longestSpanMs) throw new HttpProblem('invalid-request', 'A calendar shows at most eight days')
  const schedules = (await known(deps, viewer)).slice(0, mostSchedules)
  const rows = await Promise.all(schedules.map((each) => calendarRow(deps, each, from, to)))
  return { from, to, schedules: rows }
}

/** The next run of each schedule that has one, soonest first. */
export function nextRuns(rows: readonly ScheduleRow[]): readonly { readonly name: string; readonly at: number }[] {
  const next = rows.flatMap(({ name, nextAt, state }) => (nextAt === null || state === 'paused' ? [] : [{ name, at: nextAt }]))
  return next.toSorted((a, b) => a.at - b.at).slice(0, 8)
}

function shownPayload({ payload, encrypted }: StoredSchedule, redaction: Redaction): string | null {
  return encrypted || redaction.hidesPayloads ? null : redaction.text(JSON.stringify(payload ?? null))
}

/** The initial values of the form that edits it. */
function storedDraft(stored: StoredSchedule, payload: string | null): ScheduleDraft {
  const { key, job, kind, said, timezone, until, misfire, overlap } = stored
  const last = until === null ? '' : new Date(until).toISOString()
  return { key, job, kind, said, timezone, until: last, misfire: misfire.kind, overlap, payload: payload ?? 'null' }
}

function storedRefusal({ payload, encrypted, state }: StoredSchedule, redaction: Redaction): string | null {
  if (state === 'rejected') return 'It cannot be read, or was not signed by a key of this server'
  if (encrypted) return 'Its payload is encrypted'
  if (redaction.hidesPayloads) return 'Payloads are hidden here'
  return redaction.redacts(JSON.stringify(payload ?? null)) ? 'A part of its payload is redacted, and would be lost' : null
}

function hasRuns({ state }: ScheduleRow): boolean {
  return state !== 'disabled' && state !== 'rejected' && state !== 'ended'
}

interface Known {
  /** Null if the schedule is in the code. */
  readonly stored: StoredSchedule | null
  readonly name: string
  readonly record: ScheduleRecord | null
  readonly definition: JobDefinition | null
  readonly schedule: Schedule | null
}

/** The schedules that schedulers have recorded, and those in the code of this program. */
async function known({ snapshots, service, clock }: ViewDeps, { grant }: Viewer): Promise<readonly Known[]> {
  const records = new Map((await snapshots.schedules()).map((record) => [record.name, record]))
  const coded = service.queue.registry.definitions().filter(({ fields }) => fields.schedule !== null)
  const byJob = new Map(coded.map((definition) => [definition.job, definition]))
  const names = [...new Set([...records.keys(), ...byJob.keys()])].toSorted()
  const reading = { keys: service.queue.keys, find: (job: string) => service.queue.registry.find(job), now: clock.now() }
  return names
    .map((name) => {
      const definition = byJob.get(name) ?? null
      const record = records.get(name) ?? null
      const stored = record?.definition == null ? null : storedSchedule(record, record.definition, reading)
      const schedule = stored === null ? (definition?.fields.schedule ?? null) : readable(stored)
      return { name, record, definition, schedule, stored }
    })
    .filter(({ name, stored }) => !grant.isLimited || seesSchedule(stored?.job ?? name, grant, service))
}

function readable(stored: StoredSchedule): Schedule | null {
  return stored.state === 'rejected' ? null : scheduleOf(stored)
}

function rowOf(found: Known, deps: ViewDeps): ScheduleRow {
  const { stored, schedule } = found
  if (stored === null) return codedRow(found, deps)
  const { key, job, state, expression, timezone, text: words, nextAt, last } = stored
  const isRepeat = schedule?.kind === 'repeat'
  return { name: found.name, key, job, state, expression, timezone, words, isRepeat, nextAt, last: last && runView(last) }
}

function codedRow({ name, record, definition, schedule }: Known, { service, clock }: ViewDeps): ScheduleRow {
  const isFollowed = definition?.isFollowedIn(service.queue.settings.environment) ?? true
  const state = record?.paused
    ? 'paused'
    : !isFollowed
      ? 'disabled'
      : definition === null
        ? 'not in code'
        : record === null
          ? 'new'
          : 'active'
  const stored = record?.nextAt ?? null
  const calculated = schedule?.kind === 'calendar' ? nextRunOf(schedule, record, clock.now()) : null
  const isRunning = state === 'active' || state === 'new'
  return {
    name,
    key: null,
    job: name,
    expression: schedule?.expression ?? record?.expression ?? '',
    timezone: schedule?.timezone ?? record?.timezone ?? 'UTC',
    words: schedule?.explain().text ?? null,
    state,
    isRepeat: schedule?.kind === 'repeat',
    nextAt: isRunning ? (calculated ?? stored) : state === 'not in code' ? stored : null,
    last: record?.last == null ? null : runView(record.last),
  }
}

function runView({ at, jobId, outcome, startedAt, finishedAt }: OccurrenceRecord): RunView {
  return { at, jobId, outcome, startedAt, finishedAt }
}

/** A repeat continues from the stored run. */
function nextOf(schedule: Schedule, nextAt: number | null, from: number, count: number): readonly ExplainedOccurrence[] {
  if (schedule.kind === 'calendar') return schedule.explain({ from, count }).occurrences
  if (nextAt === null) return []
  return [
    ...schedule.explain({ from: nextAt - 1_000, count: 1 }).occurrences.map((each) => ({ ...each, at: nextAt })),
    ...schedule.explain({ from: nextAt, count: count - 1 }).occurrences,
  ]
}

async function calendarRow(deps: ViewDeps, each: Known, from: number, to: number): Promise<CalendarRow> {
  const now = deps.clock.now()
  const { name, schedule } = each
  const { state, nextAt } = rowOf(each, deps)
  const past =
    from > now
      ? []
      : (await lastOccurrences(deps.store.schedules, name, Math.min(now, to), mostOccurrences)).filter(({ at }) => at >= from)
  const isRunning = state === 'active' || state === 'new'
  const ahead =
    schedule === null || !isRunning || to <= now ? [] : nextOf(schedule, nextAt, Math.max(now, from - 1), mostOccurrences)
  const future = ahead.filter(({ at }) => at >= from && at < to).map(({ at, note }) => ({ at, note }))
  // Runs that were cut off are too many to be drawn as well.
  const isCut = [past, future].some(({ length }) => length >= mostOccurrences)
  const isDense = isCut || past.length + future.length > (to - from) / (15 * 60_000)
  return { name, state, past: past.map(runView), future, isDense, isEstimate: schedule?.kind === 'repeat' }
}
