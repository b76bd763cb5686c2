/**
 * A value that can be cloned into another thread or process. Objects with a `toJSON` method are replaced by its result, because
 * the clone would lose the method.
 */
export function portable(value: unknown): unknown {
  return converted(value, new Map())
}

function converted(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const known = seen.get(value)
  if (known !== undefined) return known
  if (!(value instanceof Date) && 'toJSON' in value && typeof value.toJSON === 'function') return value.toJSON()
  if (Array.isArray(value)) {
    const list: unknown[] = []
    seen.set(value, list)
    for (const member of value) list.push(converted(member, seen))
    return list
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  const object: Record<string, unknown> = {}
  seen.set(value, object)
  for (const [key, member] of Object.entries(value)) object[key] = converted(member, seen)
  return object
}
