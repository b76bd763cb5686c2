import { parseExact, parseVerbatim, writeExact } from '../core/text/exact-json.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** The object in a JSON text; null if it is not an object. */
export function objectOf(text: string): JsonObject | null {
  return asObject(jsonOf(text))
}

function asObject(value: unknown): JsonObject | null {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as JsonObject) : null
}

/** Undefined if it is not JSON. */
export function jsonOf(text: string): unknown {
  return parsedBy(parseExact, text)
}

/** Undefined if it is not JSON. To be written again with `writeExact`: all numbers are kept as they are. */
export function verbatimJsonOf(text: string): unknown {
  return parsedBy(parseVerbatim, text)
}

function parsedBy(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

/** Returns the text with these members set; undefined removes a member. Texts that are not objects are left alone. */
export function withMembers(text: string, members: JsonObject): string {
  const object = asObject(verbatimJsonOf(text))
  return object === null ? text : writeExact({ ...object, ...members })
}

/** How often a job with a `retryAfter` was handed out and not finished. */
export function retryCountOf(text: string): number {
  const count = objectOf(text)?.retryAfterCount
  return typeof count === 'number' && count > 0 ? count : 0
}

/** When it was due before it was first handed out, if its `retryAfter` has moved that; null if not recorded. */
export function originalRunOf(text: string): number | null {
  const original = objectOf(text)?.originalNextRun
  const ms = typeof original === 'string' ? Date.parse(`${original.replace(' ', 'T')}Z`) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

/** The data without the members that count unfinished attempts. Rewritten only if there is something to remove. */
export function withoutRetryCounts(text: string): string {
  const object = objectOf(text)
  const counts = object !== null && ('retryAfterCount' in object || 'originalNextRun' in object)
  return counts ? withMembers(text, { retryAfterCount: undefined, originalNextRun: undefined }) : text
}
