/**
 * Scopes a unique key to its job, so that two jobs can use the same key without conflict. Job names contain no line feed, so the
 * result is unambiguous.
 */
export function scopedKey(job: string, uniqueKey: string): string {
  return `${job}\n${uniqueKey}`
}

export function unscopedKey(scoped: string): string {
  return scoped.slice(scoped.indexOf('\n') + 1)
}

/** The job that a key is scoped to: the name with which it was sent. */
export function jobOfKey(scoped: string): string {
  return scoped.slice(0, scoped.indexOf('\n'))
}

/** Whether a stored text is a scoped key that every database can hold. Others may have written something else. */
export function isScopedKey(text: string): boolean {
  return text.indexOf('\n') > 0 && !text.includes('\0')
}
