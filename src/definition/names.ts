import { TreadleError } from '../core/errors.ts'
import { shown } from '../core/text/shown.ts'

const maxJobLength = 191
const maxQueueLength = 64
const maxKeyLength = 512

/** Returns why a value is not a valid job name, or undefined if it is valid. */
export function jobNameProblem(value: unknown, what = 'a job name'): string | undefined {
  if (typeof value !== 'string' || value === '') return `${what} must be a string that is not empty, got ${shown(value)}`
  if (value.length > maxJobLength) return `${what} must have at most ${maxJobLength} characters, got ${value.length}`
  if (/[\p{Cc}\p{Cs}]/u.test(value.replaceAll('\t', ' ')) || value !== value.trim()) {
    return `${what} must not contain control characters other than tabs, or halves of surrogate pairs, or begin or end with a space, got ${shown(value)}`
  }
  return undefined
}

export function queueProblem(value: unknown): string | undefined {
  if (typeof value === 'string' && value.length <= maxQueueLength && /^[\p{L}\p{N}._:/-]+$/u.test(value)) return undefined
  return `a queue must be 1 to ${maxQueueLength} letters, digits, or any of . _ : / -, got ${shown(value)}`
}

export function keyProblem(value: unknown, what: string): string | undefined {
  if (typeof value === 'string' && value !== '' && value.length <= maxKeyLength) return storableProblem(value, what)
  const got = typeof value === 'string' ? `one of ${value.length} characters` : typeof value
  return `${what} must be a string of 1 to ${maxKeyLength} characters, got ${got}`
}

/** Databases store these characters differently or not at all, so two different keys could become one. */
function storableProblem(text: string, what: string): string | undefined {
  if (!text.includes('\0') && !/\p{Surrogate}/u.test(text)) return undefined
  return `${what} must be text that every database can store: without the character U+0000 and halves of surrogate pairs`
}

export function countProblem(value: unknown, what: string): string | undefined {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return undefined
  return `${what} must be a whole number of at least 0, got ${shown(value)}`
}

export function functionProblem(value: unknown, what: string): string | undefined {
  return typeof value === 'function' ? undefined : `${what} must be given a function, got ${shown(value)}`
}

export function switchProblem(value: unknown, what: string): string | undefined {
  return typeof value === 'boolean' ? undefined : `${what} must be true or false, got ${shown(value)}`
}

/** Throws one error that lists every problem of a definition or a dispatch. */
export function refuse(subject: string, problems: readonly (string | undefined)[]): void {
  const found = problems.filter((problem) => problem !== undefined)
  if (found.length > 0) throw new TreadleError('DEFINITION_INVALID', `${subject}: ${found.join('; ')}`)
}

/** Checks the name of a backend, as used in programs and on the command line. */
export function backendNameProblem(value: unknown): string | undefined {
  if (typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(value)) return undefined
  return `the name of a backend must be 1 to 64 letters, digits, - or _, and begin with a letter, got ${shown(value)}`
}
