import { TreadleError } from './errors.ts'
import { shown } from './text/shown.ts'

/** Rejects unknown options: a misspelled one must not silently fall back to the default. */
export function refuseUnknownOptions(options: object, known: readonly string[], what: string): void {
  const problems = unknownOptions(options, known)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `${what}: ${problems.join('; ')}`)
}

/** Rejects what cannot be waited for: a signal of the wrong type would be noticed only when the wait is half over. */
export function refuseWrongSignal(signal: unknown, what: string, option = 'signal'): void {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw new TreadleError('CONFIG_INVALID', `${what}: ${option} must be an AbortSignal, got ${shown(signal)}`)
}

export function unknownOptions(options: object, known: readonly string[]): readonly string[] {
  if (typeof options !== 'object' || options === null) {
    return [`its options must be an object (known: ${known.join(', ')}), got ${shown(options)}`]
  }
  return Object.keys(options)
    .filter((key) => !known.includes(key))
    .map((key) => `unknown option "${key}"${suggestion(key, known)}`)
}

export function suggestion(key: string, known: readonly string[]): string {
  const near = nearest(key, known)
  return near === undefined ? ` (known: ${known.join(', ')})` : `, did you mean "${near}"?`
}

/** Suggests what a misspelled name was probably meant to be. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  return known.find((candidate) => isNear(name.toLowerCase(), candidate.toLowerCase()))
}

/** One letter added, removed or changed, two letters swapped, or one name a prefix of the other. */
function isNear(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < 2) return a === b
  if (a === b || (a.length >= 3 && b.startsWith(a)) || (b.length >= 3 && a.startsWith(b))) return true
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const restA = a.slice(start)
  const restB = b.slice(start)
  const swapped = restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2)
  return restA.slice(1) === restB || restA === restB.slice(1) || restA.slice(1) === restB.slice(1) || swapped
}

const mostListed = 50

/** What there is, for an error message about a name that there is not: the one that was probably meant, and a list. */
export function whatThereIs(name: string, known: readonly string[], what: string): string {
  const near = nearest(name, known)
  const meant = near === undefined ? '' : `Did you mean "${near}"? `
  const listed = known.slice(0, mostListed).join(', ') || 'none'
  return `${meant}${what}: ${listed}${known.length > mostListed ? ` and ${known.length - mostListed} more` : ''}`
}
