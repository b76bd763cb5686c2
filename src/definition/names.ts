import { TreadleError } from '../core/errors.ts'
import { shown } from '../core/shown.ts'

const maxJobLength = 191
const maxQueueLength = 64
const maxKeyLength = 512

/** Why a text can not be the key of a job, or undefined when it can. */
export function jobNameProblem(value: unknown, what = 'a job name'): string | undefined {
  if (typeof value !== 'string' || value === '') return `${what} must be a text that is not empty, got ${JSON.stringify(value)}`
  if (value.length > maxJobLength) return `${what} must have at most ${maxJobLength} characters, got ${value.length}`
  if (/[\p{Cc}\p{Cs}]/u.test(value) || value !== value.trim()) {
    return `${what} must not hold control characters or halves of characters, or begin or end with a space, got ${JSON.stringify(value)}`
  }
  return undefined
}

export function queueProblem(value: unknown): string | undefined {
  if (typeof value === 'string' && value.length <= maxQueueLength && /^[\p{L}\p{N}._:/-]+$/u.test(value)) return undefined
  return `a queue must be 1 to ${maxQueueLength} letters, digits, or any of . _ : / -, got ${JSON.stringify(value)}`
}

export function keyProblem(value: unknown, what: string): string | undefined {
  if (typeof value === 'string' && value !== '' && value.length <= maxKeyLength) return undefined
  const got = typeof value === 'string' ? `one of ${value.length} characters` : typeof value
  return `${what} must be a text of 1 to ${maxKeyLength} characters, got ${got}`
}

export function countProblem(value: unknown, what: string): string | undefined {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return undefined
  return `${what} must be a whole number of at least 0, got ${shown(value)}`
}

export function functionProblem(value: unknown, what: string): string | undefined {
  return typeof value === 'function' ? undefined : `${what} must be given a function, got ${shown(value)}`
}

/** Throws all problems of a definition or a dispatch at once. */
export function refuse(subject: string, problems: readonly (string | undefined)[]): void {
  const found = problems.filter((problem) => problem !== undefined)
  if (found.length > 0) throw new TreadleError('DEFINITION_INVALID', `${subject}: ${found.join('; ')}`)
}
