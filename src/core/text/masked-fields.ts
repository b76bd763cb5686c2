import { isSecretMember, masked } from './masking.ts'

const deepest = 6

/**
 * The fields of a log line without passwords, for a logger that formats them itself: errors stay errors, and what holds no
 * password stays the same object. Instances of other classes are left to the logger's serializers.
 */
export function maskedFields<Fields extends object>(fields: Fields): Fields {
  try {
    return safe(fields, 0) as Fields
  } catch {
    return fields
  }
}

function safe(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return masked(value)
  if (typeof value !== 'object' || value === null || depth > deepest) return value
  if (value instanceof Error) return safeError(value, depth)
  if (Array.isArray(value)) {
    const items = value.map((each) => safe(each, depth + 1))
    return items.some((each, index) => each !== value[index]) ? items : value
  }
  return isPlain(value) ? safeMembers(value, depth) : value
}

function safeMembers(value: object, depth: number): object {
  const members = Object.entries(value)
  const changed = members.map(([name, member]) => [name, isSecretMember(name, member) ? '***' : safe(member, depth + 1)] as const)
  return changed.some(([, member], index) => member !== members[index]?.[1]) ? Object.fromEntries(changed) : value
}

/** A copy, because the error belongs to the program. */
function safeError(error: Error, depth: number): Error {
  const { message, stack, cause } = error
  const own = Object.fromEntries(Object.entries(error).map(([name, member]) => [name, safe(member, depth + 1)]))
  const changes = { ...own, message: masked(message), stack: stack && masked(stack), cause: safe(cause, depth + 1) }
  const differing = Object.entries(changes).filter(([name, member]) => Reflect.get(error, name) !== member)
  if (differing.length === 0) return error
  const copy = Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error)) as Error
  for (const [name, value] of [['stack', changes.stack], ...differing] as const) {
    Object.defineProperty(copy, name, { value, configurable: true, writable: true, enumerable: Object.hasOwn(own, name) })
  }
  return copy
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
