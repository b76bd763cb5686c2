import type { ListedSchedule, StoredSchedule, StoredScheduleOptions } from '../../../app/schedules/stored-schedule.ts'
import type { ServedQueue } from '../../../app/workers/served-queue.ts'
import type { Schedule as ScheduleJson } from '../../../client/api/schedule-shapes.ts'
import type { Json } from '../../../core/text/json.ts'
import { scheduleOf, storedKey, storedName } from '../../../definition/recurrence.ts'
import type { OccurrenceRecord } from '../../../queue/contract/schedule-store.ts'
import { parseZone } from '../../../scheduling/calendar/zone.ts'
import { localText } from '../../../scheduling/explaining/local-time.ts'
import type { ExplainedOccurrence, Schedule } from '../../../scheduling/schedule.ts'
import type { HttpDeps } from '../deps.ts'
import { seesSchedule } from '../permission.ts'
import type { Handlers } from '../route.ts'
import { HttpProblem } from '../wire/http-problem.ts'
import { iso, isoOrNull } from '../wire/job-json.ts'

type Names =
  | 'listSchedules'
  | 'getSchedule'
  | 'putSchedule'
  | 'deleteSchedule'
  | 'pauseSchedule'
  | 'resumeSchedule'
  | 'triggerSchedule'
  | 'nextRuns'

const defaultCount = 10

export function scheduleHandlers({ jobs, service }: HttpDeps): Pick<Handlers, Names> {
  const { schedules } = jobs
  const { queue } = service
  const found = async (name: string): Promise<ScheduleJson> => {
    const isCoded = queue.registry.find(name)?.fields.schedule != null
    const names = [name, storedName(name)]
    const records = new Map((await queue.backend.store.schedules.list({ names })).map((record) => [record.name, record]))
    const record = records.get(name) ?? (isCoded ? undefined : records.get(storedName(name)))
    const [unseen] = unseenSchedules(queue, new Set()).filter((each) => each.name === name)
    if (record === undefined && unseen === undefined) throw noSuchSchedule(name)
    if (record === undefined) return unseen as ScheduleJson
    return scheduleJson({ ...record, stored: record.definition === null ? null : await schedules.get(record.name) })
  }
  return {
    listSchedules: async ({ query: { prefix = '', stored }, exchange: { grant } }) => {
      const filter = { ...(prefix !== '' && { prefix }), ...(stored !== undefined && { stored: stored === 'true' }) }
      const recorded = (await schedules.list(filter)).map(scheduleJson)
      const names = new Set(recorded.map(({ name }) => name))
      const unseen = stored === 'true' ? [] : unseenSchedules(queue, names).filter(({ name }) => name.startsWith(prefix))
      const all = [...recorded, ...unseen].filter(
        ({ name, stored }) => !grant.isLimited || seesSchedule(stored?.job ?? name, grant, service),
      )
      return { status: 200, body: { schedules: all.toSorted((a, b) => (a.name < b.name ? -1 : 1)) } }
    },

    getSchedule: async ({ params: { name } }) => ({ status: 200, body: await found(name) }),

    putSchedule: async ({ params: { name }, body }) => {
      // It is refused unless it names exactly one frequency.
      await schedules.upsert(storedKey(name) ?? name, body as unknown as StoredScheduleOptions)
      return { status: 200, body: await found(storedName(storedKey(name) ?? name)) }
    },

    deleteSchedule: async ({ params: { name } }) => {
      if (!(await schedules.delete(name))) throw noSuchSchedule(name)
      return { status: 204, body: undefined }
    },

    pauseSchedule: async ({ params: { name } }) => {
      await schedules.pause(name)
      return { status: 200, body: { name, paused: true } }
    },

    resumeSchedule: async ({ params: { name } }) => {
      await schedules.resume(name)
      return { status: 200, body: { name, paused: false } }
    },

    triggerSchedule: async ({ params: { name } }) => {
      const { id, created } = await schedules.trigger(name)
      return { status: 201, body: { id, created } }
    },

    nextRuns: async ({ params: { name }, query: { count = defaultCount } }) => {
      const coded = queue.registry.find(name)?.fields.schedule ?? null
      const stored = coded === null ? await schedules.get(name) : null
      const schedule = coded ?? (stored === null ? null : scheduleOf(stored))
      if (schedule === null) {
        const detail = `No job with a schedule is defined as ${JSON.stringify(name)} in this server, and no schedule is stored with this key`
        throw new HttpProblem('schedule-not-found', detail, { code: 'SCHEDULE_UNKNOWN' })
      }
      const [record] = await queue.backend.store.schedules.list({ names: [stored === null ? name : storedName(stored.key)] })
      const runs = runsOf(schedule, record?.nextAt ?? null, queue.settings.clock.now(), count)
      const { timezone } = schedule
      const told = runs.map(({ at, local, note }) => ({ at: iso(at), local, note }))
      return { status: 200, body: { name, text: schedule.explain().text, timezone, runs: told } }
    },
  }
}

/** Schedules of the program that no scheduler has seen yet. */
function unseenSchedules({ registry, settings }: ServedQueue, seen: ReadonlySet<string>): readonly ScheduleJson[] {
  return registry.definitions().flatMap((definition) => {
    const { job, fields } = definition
    const { schedule } = fields
    if (schedule === null || seen.has(job)) return []
    const { expression, timezone } = schedule
    const isFollowed = schedule.kind === 'calendar' && definition.isFollowedIn(settings.environment)
    const nextAt = isFollowed ? isoOrNull(schedule.next(settings.clock.now())) : null
    return [{ name: job, expression, timezone, paused: false, since: null, nextAt, stored: null, last: null }]
  })
}

/** A repeat continues from its stored run. Without one, its first run is when a scheduler first sees it. */
function runsOf(schedule: Schedule, nextAt: number | null, now: number, count: number): readonly ExplainedOccurrence[] {
  if (schedule.kind === 'calendar') return schedule.explain({ from: now, count }).occurrences
  const first = nextAt ?? Math.floor(now / 1_000) * 1_000
  const begin = { at: first, local: localText(parseZone(schedule.timezone), first), note: null }
  return count === 1 ? [begin] : [begin, ...schedule.explain({ from: first, count: count - 1 }).occurrences]
}

function noSuchSchedule(name: string): HttpProblem {
  return new HttpProblem('schedule-not-found', `There is no schedule ${JSON.stringify(name)}`, { code: 'SCHEDULE_UNKNOWN' })
}

function scheduleJson({ name, expression, timezone, paused, since, nextAt, stored, last }: ListedSchedule): ScheduleJson {
  return {
    name,
    expression,
    timezone,
    paused,
    since: iso(since),
    nextAt: isoOrNull(stored?.nextAt ?? nextAt),
    stored: stored === null ? null : storedJson(stored),
    last: last === null ? null : lastJson(last),
  }
}

function storedJson({ key, job, payload, encrypted, kind, said, text, until, misfire, overlap, state, problem }: StoredSchedule) {
  const cap = misfire.kind === 'all' ? misfire.cap : null
  return {
    key,
    job,
    payload: encrypted ? null : ((payload ?? null) as Json),
    kind,
    said,
    text,
    until: isoOrNull(until),
    misfire: { kind: misfire.kind, withinMs: misfire.withinMs, cap },
    overlap,
    state,
    problem,
  }
}

function lastJson({ at, jobId, outcome, startedAt, finishedAt }: OccurrenceRecord): NonNullable<ScheduleJson['last']> {
  return { at: iso(at), jobId, outcome, startedAt: isoOrNull(startedAt), finishedAt: isoOrNull(finishedAt) }
}
