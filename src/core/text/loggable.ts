import { isSecretMember, masked } from './masking.ts'
import { shown } from './shown.ts'

const deepest = 6
const mostMembers = 100

/** A value as JSON for a log line, without passwords; errors as name, message and stack. Never throws. */
export function loggableJson(value: unknown): string {
  try {
    return JSON.stringify(loggable(value, 0)) ?? JSON.stringify(shown(value))
  } catch {
    return JSON.stringify(masked(shown(value)))
  }
}

/** Errors among the fields as name, message and stack, for a logger that writes JSON: that would leave nothing of them. */
export function withPlainErrors(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const members = Object.entries(fields)
  if (!members.some(([, value]) => value instanceof Error)) return fields
  return Object.fromEntries(members.map(([name, value]) => [name, value instanceof Error ? loggableError(value, 0) : value]))
}

function loggable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return masked(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'function' || typeof value === 'symbol') return shown(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= deepest) return masked(shown(value))
  if (value instanceof Error) return loggableError(value, depth)
  if (hasJson(value)) return loggable(value.toJSON(), depth + 1)
  if (Array.isArray(value)) return value.slice(0, mostMembers).map((each) => loggable(each, depth + 1))
  if (value instanceof Map || value instanceof Set) return loggable([...value], depth)
  const members = Object.entries(value).slice(0, mostMembers)
  return Object.fromEntries(
    members.map(([name, member]) => [name, isSecretMember(name, member) ? '***' : loggable(member, depth + 1)]),
  )
}

function hasJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

function loggableError(error: Error, depth: number): unknown {
  const { name, message, stack, cause } = error
  const code = 'code' in error ? { code: loggable(error.code, depth + 1) } : {}
  return {
    name,
    message: masked(message),
    ...code,
    ...(stack !== undefined && { stack: masked(stack) }),
    ...(cause !== undefined && { cause: loggable(cause, depth + 1) }),
  }
}
