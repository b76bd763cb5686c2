import { messageOf } from '../errors.ts'
import { masked } from './masking.ts'

/** Why something failed, as it is written down: short enough to be stored with a job. */
export interface WrittenReason {
  /** `fetch failed: connect ECONNREFUSED 127.0.0.1:80`: what was thrown, then what caused it. */
  readonly message: string
  readonly code?: string
  readonly stack?: string
}

const maxMessageLength = 2_000
const maxStackLength = 8_000
const maxCodeLength = 100

/** A thrown value can be anything, also one whose very properties throw. */
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
  /** The errors that it stands for, and its cause. */
  readonly because: readonly Reason[]
}

/** So many are told in all: a chain of causes may be a circle, and a list of errors a long one. */
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

/** Whoever wraps an error often quotes it: what is said already is not said again. */
function wholeMessage({ message, because }: Reason): string {
  const causes = [...new Set(because.map(wholeMessage))].filter((cause) => !message.includes(cause))
  if (causes.length === 0) return message
  // Node wraps the failures of several addresses in an error that says nothing itself.
  return message === AggregateError.name ? causes.join('; ') : `${message}: ${causes.join('; ')}`
}

function stackOf({ message, stack, because }: Reason): string {
  if (because.length === 0) return stack ?? ''
  // The causes are at the end, where a long stack of what they caused must not push them out.
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
