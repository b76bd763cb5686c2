import type { ServedQueue } from '../../../app/served-queue.ts'
import type { OccurrenceRecord, ScheduleRecord } from '../../../backends/schedule-store.ts'
import type { Schedule as ScheduleJson } from '../../../client/api/schedule-shapes.ts'
import { parseZone } from '../../../scheduling/calendar/zone.ts'
import { localText } from '../../../scheduling/explaining/local-time.ts'
import type { ExplainedOccurrence, Schedule } from '../../../scheduling/schedule.ts'
import type { HttpDeps } from '../deps.ts'
import { HttpProblem } from '../http-problem.ts'
import { iso, isoOrNull } from '../job-json.ts'
import { seesSchedule } from '../permission.ts'
import type { Handlers } from '../route.ts'

type Names = 'listSchedules' | 'pauseSchedule' | 'resumeSchedule' | 'triggerSchedule' | 'nextRuns'

const defaultCount = 10

export function scheduleHandlers({ jobs, service }: HttpDeps): Pick<Handlers, Names> {
  const { schedules } = jobs
  const { queue } = service
  return {
    listSchedules: async ({ exchange: { grant } }) => {
      const recorded = (await schedules.list()).map(scheduleJson)
      const all = [...recorded, ...unseenSchedules(queue, new Set(recorded.map(({ name }) => name)))].filter(
        ({ name }) => !grant.isLimited || seesSchedule(name, grant, service),
      )
      return { status: 200, body: { schedules: all.toSorted((a, b) => (a.name < b.name ? -1 : 1)) } }
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
      const schedule = queue.registry.find(name)?.fields.schedule ?? null
      if (schedule === null) {
        const detail = `No job with a schedule is defined as ${JSON.stringify(name)} in this server`
        throw new HttpProblem('schedule-not-found', detail, { code: 'SCHEDULE_UNKNOWN' })
      }
      const [record] = (await schedules.list()).filter((each) => each.name === name)
      const runs = runsOf(schedule, record?.nextAt ?? null, queue.settings.clock.now(), count)
      const { timezone } = schedule
      const told = runs.map(({ at, local, note }) => ({ at: iso(at), local, note }))
      return { status: 200, body: { name, text: schedule.explain().text, timezone, runs: told } }
    },
  }
}

/** Those of the program that no scheduler has seen yet. */
function unseenSchedules({ registry, settings }: ServedQueue, seen: ReadonlySet<string>): readonly ScheduleJson[] {
  return registry.definitions().flatMap((definition) => {
    const { job, fields } = definition
    const { schedule } = fields
    if (schedule === null || seen.has(job)) return []
    const { expression, timezone } = schedule
    const isFollowed = schedule.kind === 'calendar' && definition.isFollowedIn(settings.environment)
    const nextAt = isFollowed ? isoOrNull(schedule.next(settings.clock.now())) : null
    return [{ name: job, expression, timezone, paused: false, since: null, nextAt, last: null }]
  })
}

/** A repeat goes on from the run that is stored; without one its first comes when a scheduler first sees it. */
function runsOf(schedule: Schedule, nextAt: number | null, now: number, count: number): readonly ExplainedOccurrence[] {
  if (schedule.kind === 'calendar') return schedule.explain({ from: now, count }).occurrences
  const first = nextAt ?? Math.floor(now / 1_000) * 1_000
  const begin = { at: first, local: localText(parseZone(schedule.timezone), first), note: null }
  return count === 1 ? [begin] : [begin, ...schedule.explain({ from: first, count: count - 1 }).occurrences]
}

function scheduleJson({ name, expression, timezone, paused, since, nextAt, last }: ScheduleRecord): ScheduleJson {
  return {
    name,
    expression,
    timezone,
    paused,
    since: iso(since),
    nextAt: isoOrNull(nextAt),
    last: last === null ? null : lastJson(last),
  }
}

function lastJson({ at, jobId, outcome, startedAt, finishedAt }: OccurrenceRecord): NonNullable<ScheduleJson['last']> {
  return { at: iso(at), jobId, outcome, startedAt: isoOrNull(startedAt), finishedAt: isoOrNull(finishedAt) }
}
