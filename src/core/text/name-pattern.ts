/** Whether a name fits one of these patterns; null is all names. */
export function isAmong(patterns: readonly string[] | null | undefined, name: string): boolean {
  return patterns?.some((pattern) => fitsPattern(pattern, name)) ?? true
}

/** Whether a name fits a pattern in which `*` stands for any text, also none; all else stands for itself, and case counts. */
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
