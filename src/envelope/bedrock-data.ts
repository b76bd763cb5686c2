export type JsonObject = Readonly<Record<string, unknown>>

/** The object that a text is, or null. */
export function objectOf(text: string): JsonObject | null {
  const value = jsonOf(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as JsonObject) : null
}

/** Undefined where it is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Writes the text anew; a member that is undefined is taken away. What is no object is left alone. */
export function withMembers(text: string, members: JsonObject): string {
  const object = objectOf(text)
  return object === null ? text : JSON.stringify({ ...object, ...members })
}

/** How often a job with a `retryAfter` was handed out and not finished. */
export function retryCountOf(text: string): number {
  const count = objectOf(text)?.retryAfterCount
  return typeof count === 'number' && count > 0 ? count : 0
}

/** When it was to run before it was first handed out, where its `retryAfter` has moved that; null where it says none. */
export function originalRunOf(text: string): number | null {
  const original = objectOf(text)?.originalNextRun
  const ms = typeof original === 'string' ? Date.parse(`${original.replace(' ', 'T')}Z`) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

/** The data without what is counted in it while nobody has finished the job. Written anew only where there is something to take away. */
export function withoutRetryCounts(text: string): string {
  const object = objectOf(text)
  const counts = object !== null && ('retryAfterCount' in object || 'originalNextRun' in object)
  return counts ? withMembers(text, { retryAfterCount: undefined, originalNextRun: undefined }) : text
}
