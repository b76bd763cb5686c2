import { InvalidArgumentError } from 'commander'
import { parseDuration } from '../core/time/duration.ts'
import { parseInstant } from '../core/time/instant.ts'
import { keyProblem, queueProblem } from '../definition/names.ts'
import { type Priority, priorityLevels, priorityProblem } from '../definition/policies/priority.ts'
import { tagProblem } from '../definition/tags.ts'
import { type JobState, jobStates } from '../queue/contract/job-state.ts'
import { parseZone } from '../scheduling/calendar/zone.ts'

// Strict parsers for option values: an invalid value is rejected with the accepted forms, and never becomes NaN.

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
    throw new InvalidArgumentError(`It must be a whole number ${range}.`)
  }
}

/** A fraction, such as `0.8`. */
export function share(text: string): number {
  const number = /^(0?\.\d{1,6}|1(\.0*)?)$/.test(text) ? Number(text) : Number.NaN
  if (number > 0) return number
  throw new InvalidArgumentError('It must be a fraction above 0 and up to 1, such as 0.8.')
}

/** The text itself, once it is known to be a duration. A bare number is rejected because its unit would be a guess. */
export function duration(text: string): string {
  try {
    parseDuration(text, 'it')
    return text
  } catch {
    throw new InvalidArgumentError("It must be a duration with its unit, such as '250ms', '30s', '5m', '1h30m', '2d' or '1w'.")
  }
}

const memoryUnits: Readonly<Record<string, number>> = { kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 }

/** The number of bytes in a text such as `512mb`. */
export function memory(text: string): number {
  const [, count, unit] = /^(\d{1,9}(?:\.\d{1,3})?)([kmg]b)$/i.exec(text) ?? []
  if (count === undefined) throw new InvalidArgumentError("It must be a size with its unit, such as '512mb' or '1.5gb'.")
  return Math.round(Number(count) * (memoryUnits[(unit as string).toLowerCase()] as number))
}

export function instant(text: string): Date {
  try {
    return new Date(parseInstant(text, 'it'))
  } catch {
    if (isMissingDay(text)) throw new InvalidArgumentError(`There is no such day: ${text.slice(0, 10)}.`)
    throw new InvalidArgumentError("It must be an ISO 8601 time with its offset, such as '2026-06-10T09:00:00Z'.")
  }
}

/** For a time that cannot be parsed: whether it would be valid on the first of its month. */
function isMissingDay(text: string): boolean {
  try {
    parseInstant(text.replace(/^(\d{4}-\d{2})-\d{2}/, '$1-01'), 'it')
    return true
  } catch {
    return false
  }
}

export function priority(text: string): Priority {
  const value = Object.hasOwn(priorityLevels, text) ? (text as Priority) : /^[+-]?\d{1,5}$/.test(text) ? Number(text) : text
  const problem = priorityProblem(value)
  if (problem !== undefined) throw new InvalidArgumentError(sentence(problem))
  return value as Priority
}

export function state(text: string): JobState {
  if ((jobStates as readonly string[]).includes(text)) return text as JobState
  throw new InvalidArgumentError(`It must be one of ${jobStates.join(', ')}. Failed jobs are dead.`)
}

export function zone(text: string): string {
  try {
    parseZone(text)
    return text
  } catch {
    throw new InvalidArgumentError("It must be the name of a time zone, such as 'Europe/Paris', 'America/New_York' or 'UTC'.")
  }
}

/** How long a unique key is held. */
export function uniqueTime(text: string): string {
  if (text === 'started' || text === 'ended' || text === 'ever') return text
  try {
    return duration(text)
  } catch {
    throw new InvalidArgumentError(
      "It must be 'started', 'ended', 'ever', or a duration with its unit, such as '30s', '5m' or '1d'.",
    )
  }
}

/** A unique key or an idempotency key. */
export function key(text: string): string {
  const problem = keyProblem(text, 'it')
  if (problem !== undefined) throw new InvalidArgumentError(sentence(problem))
  return text
}

export function tag(text: string): string {
  const problem = tagProblem(text)
  if (problem !== undefined) throw new InvalidArgumentError(sentence(problem))
  return text
}

export function tags(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, tag(text)]
}

export function queue(text: string): string {
  const problem = queueProblem(text)
  if (problem !== undefined) throw new InvalidArgumentError(sentence(problem))
  return text
}

export function queues(text: string, before: readonly string[] = []): readonly string[] {
  return collect(text, before).map(queue)
}

/** For an option that may be repeated, each time with one or more values separated by commas. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  const values = text.split(',').map((value) => value.trim())
  if (values.includes('')) throw new InvalidArgumentError('It must not be empty.')
  return [...before, ...values]
}

function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`
}
