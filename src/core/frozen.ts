/**
 * A copy that nobody can change, as deep as it is made of plain objects and lists. Functions and objects of classes are shared:
 * what they are is their own matter. So is what contains itself.
 */
export function frozenCopy<Value>(value: Value): Value {
  return copyOf(value, []) as Value
}

function copyOf(value: unknown, around: readonly unknown[]): unknown {
  const isList = Array.isArray(value)
  if ((!isList && !isPlain(value)) || around.includes(value)) return value
  const within = [...around, value]
  if (isList) return Object.freeze(value.map((member) => copyOf(member, within)))
  // Also a member of the name `__proto__` is one like any other.
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member, within)])))
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
