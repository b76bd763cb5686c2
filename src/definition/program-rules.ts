import { calendarSchedule } from '../scheduling/calendar/calendar-schedule.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import { type DefinitionFields, definitionDefaults } from './fields.ts'

/** Hooks, policies and middleware that the program adds to those of the job itself. */
export type ProgramHooks = Pick<
  DefinitionFields,
  'before' | 'onSuccess' | 'onError' | 'finally' | 'failWhen' | 'around' | 'aroundDispatch'
>

/** Settings that a program applies to all of its jobs. */
export interface ProgramRules {
  /** Used for fields that a definition does not set. */
  readonly defaults: Partial<DefinitionFields>
  /** The time zone of schedules that do not name one. */
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

/** The fields given for a job: at least its key and its handler. */
export type SaidFields = Pick<DefinitionFields, 'job' | 'handler'> & Partial<DefinitionFields>

/** Completes the fields: first those of the job, then the program's defaults, then the built-in defaults. */
export function completeFields(said: SaidFields, rules: ProgramRules): DefinitionFields {
  const fields: Writable<DefinitionFields> = { ...definitionDefaults, ...rules.defaults, name: said.job, ...said }
  // A default never contradicts an explicit setting.
  if (said.maxAttempts === undefined && fields.delivery === 'at-most-once') fields.maxAttempts = 1
  if (said.timeoutMs === undefined && fields.maxRunningTimeMs !== null) fields.timeoutMs = null
  // A schedule given as a value has its own time zone.
  if (said.timezone === null) fields.schedule = zoned(fields.schedule, rules.timezone)
  const hooks = rules.hooksOf(said.job)
  for (const name of hookNames) {
    if (hooks[name].length > 0) Object.assign(fields, { [name]: Object.freeze([...fields[name], ...hooks[name]]) })
  }
  return fields
}

type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] }

const hookNames = Object.keys(noHooks) as (keyof ProgramHooks)[]

/** The same wall-clock times in the time zone of the program. */
function zoned(schedule: Schedule | null, timezone: string): Schedule | null {
  if (schedule?.kind !== 'calendar' || schedule.timezone === timezone) return schedule
  return calendarSchedule(schedule.fields, timezone)
}
