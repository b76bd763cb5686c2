/**
 * A deeply frozen copy of plain objects and arrays. Functions, class instances and circular references are shared, not copied.
 */
export function frozenCopy<Value>(value: Value): Value {
  return copyOf(value, []) as Value
}

function copyOf(value: unknown, around: readonly unknown[]): unknown {
  const isList = Array.isArray(value)
  if ((!isList && !isPlain(value)) || around.includes(value)) return value
  const within = [...around, value]
  if (isList) return Object.freeze(value.map((member) => copyOf(member, within)))
  // Treats a member named `__proto__` like any other.
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member, within)])))
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
