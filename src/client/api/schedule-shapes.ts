import { jobId } from './job-shapes.ts'
import {
  anything,
  duration,
  flag,
  input,
  instant,
  integer,
  list,
  nullable,
  object,
  type Shape,
  storable,
  text,
  type ValueOf,
  words,
} from './shape.ts'

export const scheduleName = storable({
  description:
    'The name of a schedule: the key of its job where the code has it; the key of a stored one, with or without `stored:` before it.',
  minLength: 1,
  maxLength: 198,
})

const misfireKinds = ['skip', 'latest', 'all'] as const
const overlaps = ['allow', 'skip', 'queue'] as const

/** A schedule to be created at run time. */
export const newSchedule = input(
  { job: storable({ description: 'The key of the job.', minLength: 1, maxLength: 191 }) },
  {
    payload: anything({ description: 'The payload of each run.' }),
    cron: text({ description: 'Five fields, six with seconds first, or a macro such as `@daily`.', maxLength: 1_000 }),
    every: duration({ description: 'A fixed interval of whole seconds; the first run starts at once.' }),
    repeat: text({ description: 'Counted from the previous run: `FINISHED, +1 HOUR`.', maxLength: 1_000 }),
    timezone: nullable(text({ description: 'The IANA zone of `cron`.', maxLength: 100 })),
    until: nullable(instant({ description: 'No run is due after this.' })),
    misfire: nullable(misfireOptions({ description: 'What to do with runs that were missed because no scheduler was running.' })),
    overlap: nullable(words(overlaps, { description: 'What to do with a run that is due while an earlier one has not ended.' })),
  },
)
/** A schedule to be stored over HTTP. */
export type NewSchedule = ValueOf<typeof newSchedule>

type MisfireOptions =
  | (typeof misfireKinds)[number]
  | { readonly kind: (typeof misfireKinds)[number]; readonly within?: number | string; readonly cap?: number }

function misfireOptions({ description }: { readonly description: string }): Shape<MisfireOptions> {
  const cap = integer({ minimum: 1, maximum: 10_000 })
  return { anyOf: [words(misfireKinds), input({ kind: words(misfireKinds) }, { within: duration(), cap })], description }
}

/** A schedule that was created at run time. */
const storedSchedule = object({
  key: text(),
  job: text(),
  payload: anything({ description: 'Also null if it is encrypted.' }),
  kind: words(['cron', 'every', 'repeat']),
  said: text({ description: 'The cron expression, interval or repeat, as it was given.' }),
  text: text({ description: 'The schedule in words.' }),
  until: nullable(instant()),
  misfire: object({ kind: words(misfireKinds), withinMs: nullable(integer()), cap: nullable(integer()) }),
  overlap: words(overlaps),
  state: words(['active', 'paused', 'ended', 'unknown job', 'rejected']),
  problem: nullable(text({ description: 'Why this server does not follow it.' })),
})

export const schedule = object({
  name: scheduleName,
  expression: text(),
  timezone: text(),
  paused: flag(),
  since: nullable(
    instant({ description: 'Since when it has been followed without interruption; null if no scheduler has seen it yet.' }),
  ),
  nextAt: nullable(instant()),
  stored: nullable(storedSchedule),
  last: nullable(
    object({
      at: instant({ description: 'The scheduled time of the run.' }),
      jobId,
      outcome: nullable(text({ description: 'How it ended; null if it has not ended.' })),
      startedAt: nullable(instant()),
      finishedAt: nullable(instant()),
    }),
  ),
})
/** A schedule, as the HTTP API returns it. */
export type Schedule = ValueOf<typeof schedule>

export const schedules = object({ schedules: list(schedule) })

export const scheduleFilter = input(
  {},
  {
    prefix: storable({ description: 'Only schedules whose names or keys begin with this.', maxLength: 198 }),
    stored: words(['true', 'false'], { description: '`true`: only those created at run time. `false`: only those in the code.' }),
  },
)

export const scheduleStatus = object({ name: scheduleName, paused: flag() })

export const nextRunsQuery = input(
  {},
  { count: integer({ description: 'The number of runs.', minimum: 1, maximum: 1_000, default: 10 }) },
)

export const nextRuns = object({
  name: scheduleName,
  text: text({ description: 'The schedule in words.' }),
  timezone: text(),
  runs: list(
    object({
      at: instant(),
      local: text({ description: 'The same in the time zone of the schedule.' }),
      note: nullable(text({ description: 'How daylight saving affects it.' })),
    }),
  ),
})
/** The next runs of a schedule. */
export type NextRuns = ValueOf<typeof nextRuns>
