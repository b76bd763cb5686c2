import { calendarSchedule } from '../scheduling/calendar/calendar-schedule.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import { type DefinitionFields, definitionDefaults } from './fields.ts'

/** Hooks, policies and middleware that a program has for a job, beside those of the job itself. */
export type ProgramHooks = Pick<
  DefinitionFields,
  'before' | 'onSuccess' | 'onError' | 'finally' | 'failWhen' | 'around' | 'aroundDispatch'
>

/** What a program says of all of its jobs. */
export interface ProgramRules {
  /** Where a definition says nothing. */
  readonly defaults: Partial<DefinitionFields>
  /** The zone of schedules that name none. */
  readonly timezone: string
  hooksOf(job: string): ProgramHooks
}

export const noHooks: ProgramHooks = {
  before: [],
  onSuccess: [],
  onError: [],
  finally: [],
  failWhen: [],
  around: [],
  aroundDispatch: [],
}

export const noRules: ProgramRules = { defaults: {}, timezone: 'UTC', hooksOf: () => noHooks }

/** What was said of a job: at least its key and what handles it. */
export type SaidFields = Pick<DefinitionFields, 'job' | 'handler'> & Partial<DefinitionFields>

/** All fields: what was said of the job, else what its program says, else the defaults. */
export function completeFields(said: SaidFields, rules: ProgramRules): DefinitionFields {
  const fields: DefinitionFields = { ...definitionDefaults, ...rules.defaults, name: said.job, ...said }
  const hooks = rules.hooksOf(said.job)
  return {
    ...fields,
    // A default never contradicts what was said.
    maxAttempts: said.maxAttempts === undefined && fields.delivery === 'at-most-once' ? 1 : fields.maxAttempts,
    timeoutMs: said.timeoutMs === undefined && fields.maxRunningTimeMs !== null ? null : fields.timeoutMs,
    // A schedule that was given as a value has a zone of its own.
    schedule: said.timezone === null ? zoned(fields.schedule, rules.timezone) : fields.schedule,
    ...Object.fromEntries(hookNames.map((name) => [name, [...fields[name], ...hooks[name]]])),
  }
}

const hookNames = Object.keys(noHooks) as (keyof ProgramHooks)[]

/** The same times, on the wall clock of the program. */
function zoned(schedule: Schedule | null, timezone: string): Schedule | null {
  if (schedule?.kind !== 'calendar' || schedule.timezone === timezone) return schedule
  return calendarSchedule(schedule.fields, timezone)
}
