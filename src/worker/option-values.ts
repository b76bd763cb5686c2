import { messageOf } from '../core/errors.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'

// Helpers that parse option values and collect all problems, so that they can be reported together.

/** A value that cannot be parsed becomes one of the problems and does not hide the others. */
export function readOr(otherwise: number, read: () => number, problems: string[]): number {
  try {
    return read()
  } catch (thrown) {
    problems.push(messageOf(thrown))
    return otherwise
  }
}

export function durationOr(otherwiseMs: number, value: Duration | undefined, name: string, problems: string[]): number {
  return readOr(otherwiseMs, () => parseDuration(value ?? otherwiseMs, name), problems)
}

export function isWithin(value: unknown, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
}

export function isSwitch(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean'
}

export function listProblems(list: unknown, what: string): readonly string[] {
  if (list === null) return []
  const sound = Array.isArray(list) && list.length > 0 && list.every((entry) => typeof entry === 'string' && entry !== '')
  return sound ? [] : [`${what} must be a list of names that is not empty`]
}
