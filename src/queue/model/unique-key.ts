/** Two jobs may use the same key without meeting. Neither text can hold a line feed at the seam: job names have none. */
export function scopedKey(job: string, uniqueKey: string): string {
  return `${job}\n${uniqueKey}`
}

export function unscopedKey(scoped: string): string {
  return scoped.slice(scoped.indexOf('\n') + 1)
}
