import { TreadleError } from '../../core/errors.ts'
import { suggestion } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { type CalendarObject, objectFrequency } from './object-schedule.ts'

/** The name of an object schedule: a built-in one, or one registered by the program. */
export type ScheduleSymbol = keyof typeof builtIn | (string & {})

/**
 * Registers a name for an object schedule, for use with `schedule()` in this process. Registering the same name again is allowed
 * if the meaning is the same.
 */
export function registerSymbol(name: string, times: CalendarObject): void {
  if (typeof name !== 'string' || !nameForm.test(name))
    throw invalid(
      `registerSymbol(): a symbol has up to 64 capitals, digits and underscores, and begins with a capital, got ${shown(name)}`,
    )
  if (Object.hasOwn(builtIn, name))
    throw invalid(`registerSymbol(): "${name}" is built in and cannot be registered: choose another name`)
  const meaning = meaningOf(times)
  const known = registered.get(name)
  if (known !== undefined && meaningOf(known) !== meaning)
    throw invalid(`registerSymbol(): "${name}" is registered with another meaning: choose another name`)
  if (known === undefined && registered.size === maxRegistered)
    throw invalid(`registerSymbol(): ${maxRegistered} symbols are registered already: give schedule() the object itself`)
  registered.set(name, structuredClone(times))
}

export function symbolObject(name: string): CalendarObject {
  const object = Object.hasOwn(builtIn, name) ? builtIn[name as keyof typeof builtIn] : registered.get(name)
  if (object !== undefined) return object
  const names = [...Object.keys(builtIn), ...registered.keys()]
  throw invalid(
    `schedule() takes a symbol that is built in or registered before; "${name}" is not known${suggestion(name, names)}`,
  )
}

const builtIn = {
  /** Every full minute. */
  EVERY_MINUTE: { minutes: '*' },
  /** Every hour at one minute past. */
  EVERY_HOUR: { minutes: 1, hours: '*' },
  /** Every day at 02:10. */
  EVERY_DAY: { minutes: 10, hours: 2, day: '*' },
  /** Every Monday at 06:20. */
  EVERY_WEEK: { minutes: 20, hours: 6, wday: 1 },
  /** On the first of every month at 01:30. */
  EVERY_MONTH: { minutes: 30, hours: 1, mday: 1 },
} as const satisfies Readonly<Record<string, CalendarObject>>

const nameForm = /^[A-Z][A-Z0-9_]{0,63}$/

// Names come from the program's own code; this stops a program that generates them in a loop before memory runs out.
const maxRegistered = 1_000
const registered = new Map<string, CalendarObject>()

function meaningOf(times: CalendarObject): string {
  return JSON.stringify(Object.entries(objectFrequency(times).named).sort())
}

function invalid(why: string): TreadleError {
  return new TreadleError('SCHEDULE_INVALID', why)
}
