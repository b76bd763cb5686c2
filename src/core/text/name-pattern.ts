/** Whether a name matches one of these patterns; null matches all names. */
export function isAmong(patterns: readonly string[] | null | undefined, name: string): boolean {
  return patterns?.some((pattern) => fitsPattern(pattern, name)) ?? true
}

/**
 * Whether a name matches a pattern in which `*` stands for any text, including none. Everything else matches itself,
 * case-sensitively.
 */
export function fitsPattern(pattern: string, name: string): boolean {
  const [start = '', ...rest] = pattern.split('*')
  const end = rest.pop()
  if (end === undefined) return name === pattern
  if (name.length < start.length + end.length || !name.startsWith(start) || !name.endsWith(end)) return false
  let at = start.length
  const last = name.length - end.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found === -1 || found + part.length > last) return false
    at = found + part.length
  }
  return true
}
