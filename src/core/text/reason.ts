import { messageOf } from '../errors.ts'
import { masked } from './masking.ts'

/** The reason for a failure, short enough to be stored with a job. */
export interface WrittenReason {
  /** What was thrown, followed by its causes: `fetch failed: connect ECONNREFUSED 127.0.0.1:80`. */
  readonly message: string
  readonly code?: string
  readonly stack?: string
}

const maxMessageLength = 2_000
const maxStackLength = 8_000
const maxCodeLength = 100

/** A thrown value may be anything, even one whose properties throw. */
export function writtenReason(thrown: unknown): WrittenReason {
  const reason = reasonOf(thrown, new Set())
  const code = textOf(() => (thrown as { code?: unknown } | null | undefined)?.code)
  const stack = stackOf(reason)
  return {
    message: wholeMessage(reason).slice(0, maxMessageLength),
    ...(code !== undefined && { code: code.slice(0, maxCodeLength) }),
    ...(stack !== '' && { stack: stack.slice(0, maxStackLength) }),
  }
}

interface Reason {
  readonly message: string
  readonly stack: string | undefined
  /** The errors that it aggregates, and its cause. */
  readonly because: readonly Reason[]
}

/** Maximum number of reasons in total: causes may be circular, and a list of errors may be long. */
const mostReasons = 10

function reasonOf(thrown: unknown, seen: Set<unknown>): Reason {
  seen.add(thrown)
  const because: Reason[] = []
  for (const inner of causesOf(thrown)) if (!seen.has(inner) && seen.size < mostReasons) because.push(reasonOf(inner, seen))
  return { message: messageOf(thrown), stack: stackText(thrown), because }
}

function stackText(thrown: unknown): string | undefined {
  const stack = textOf(() => (thrown as { stack?: unknown } | null | undefined)?.stack)
  return stack === undefined ? undefined : masked(stack)
}

function causesOf(thrown: unknown): readonly unknown[] {
  if (typeof thrown !== 'object' || thrown === null) return []
  const errors = read(() => (thrown instanceof AggregateError ? thrown.errors : undefined))
  const cause = read(() => (thrown as { cause?: unknown }).cause)
  return [...(Array.isArray(errors) ? errors.slice(0, mostReasons) : []), ...(cause == null ? [] : [cause])]
}

/** An error often quotes the one it wraps, so a message that is already included is not repeated. */
function wholeMessage({ message, because }: Reason): string {
  const causes = [...new Set(because.map(wholeMessage))].filter((cause) => !message.includes(cause))
  if (causes.length === 0) return message
  // Node wraps the failures of several addresses in an error without a message of its own.
  return message === AggregateError.name ? causes.join('; ') : `${message}: ${causes.join('; ')}`
}

function stackOf({ message, stack, because }: Reason): string {
  if (because.length === 0) return stack ?? ''
  // The causes come last, so a long stack before them must not crowd them out.
  const own = (stack ?? message).slice(0, maxStackLength / 2)
  return [own, ...because.map((cause) => `caused by: ${stackOf(cause) || cause.message}`)].join('\n')
}

function textOf(property: () => unknown): string | undefined {
  const value = read(property)
  return typeof value === 'string' ? value : undefined
}

function read(property: () => unknown): unknown {
  try {
    return property()
  } catch {
    return undefined
  }
}
