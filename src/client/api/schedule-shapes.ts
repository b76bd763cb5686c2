import { jobId } from './job-shapes.ts'
import { flag, input, instant, integer, list, nullable, object, text, type ValueOf } from './shape.ts'

export const scheduleName = text({ description: 'The name of a schedule: the key of its job.', minLength: 1, maxLength: 191 })

export const schedule = object({
  name: scheduleName,
  expression: text(),
  timezone: text(),
  paused: flag(),
  since: nullable(
    instant({ description: 'Since when it is followed without a break; null of one that no scheduler has seen yet.' }),
  ),
  nextAt: nullable(instant()),
  last: nullable(
    object({
      at: instant({ description: 'The instant that the run stands for.' }),
      jobId,
      outcome: nullable(text({ description: 'How it ended; null while it has not.' })),
      startedAt: nullable(instant()),
      finishedAt: nullable(instant()),
    }),
  ),
})
export type Schedule = ValueOf<typeof schedule>

export const schedules = object({ schedules: list(schedule) })

export const scheduleStatus = object({ name: scheduleName, paused: flag() })

export const nextRunsQuery = input(
  {},
  { count: integer({ description: 'So many runs.', minimum: 1, maximum: 1_000, default: 10 }) },
)

export const nextRuns = object({
  name: scheduleName,
  text: text({ description: 'The schedule in words.' }),
  timezone: text(),
  runs: list(
    object({
      at: instant(),
      local: text({ description: 'The same on the clock of the schedule’s zone.' }),
      note: nullable(text({ description: 'What a change of clocks does to it.' })),
    }),
  ),
})
export type NextRuns = ValueOf<typeof nextRuns>
