import { type ErrorCode, errorCodes, isThrown, messageOf, PermanentError, TreadleError } from '../core/errors.ts'
import { WaitSignal, waitSignalName } from '../execution/attempt/control.ts'

/** Anything that was thrown, in a form that can be sent. */
export type PackedThrown =
  | {
      readonly kind: 'error'
      readonly name: string
      readonly message: string
      readonly isPermanent: boolean
      readonly stack?: string
      readonly code?: string | number
      readonly cause?: PackedThrown
      /** The errors of an `AggregateError`. */
      readonly errors?: readonly PackedThrown[]
    }
  | { readonly kind: 'value'; readonly value: unknown }

/** Maximum depth of a chain of causes, which may be circular. */
const mostCauses = 5
const mostErrors = 10

export function packThrown(thrown: unknown, depth = 0): PackedThrown {
  if (!isThrown(thrown, Error)) return { kind: 'value', value: sendable(thrown) }
  const stack = read(() => thrown.stack)
  const code = read(() => (thrown as { code?: unknown }).code)
  const cause = read(() => thrown.cause)
  const errors = isThrown(thrown, AggregateError) ? read(() => thrown.errors) : undefined
  return {
    kind: 'error',
    name: cut(textOf(() => thrown.name) ?? 'Error'),
    message: cut(messageOf(thrown)),
    isPermanent: isThrown(thrown, PermanentError),
    ...(typeof stack === 'string' && { stack: cut(stack) }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(cause !== undefined && depth < mostCauses && { cause: packThrown(cause, depth + 1) }),
    ...(Array.isArray(errors) &&
      depth < mostCauses && { errors: errors.slice(0, mostErrors).map((error) => packThrown(error, depth + 1)) }),
  }
}

/** What is longer does not cross: a frame between the processes is bounded, and what is stored in the end is shorter still. */
const longestText = 1_000_000

function cut(text: string): string {
  return text.slice(0, longestText)
}

/** Parses a packed error that was received; undefined if it is invalid. */
export function parseThrown(value: unknown, depth = 0): PackedThrown | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, name, message, isPermanent, stack, code, cause, errors, ...rest } = value as Readonly<Record<string, unknown>>
  if (kind === 'value') return { kind, value: rest.value }
  if (kind !== 'error' || typeof name !== 'string' || typeof message !== 'string') return undefined
  const inner = depth < mostCauses ? parseThrown(cause, depth + 1) : undefined
  const others = Array.isArray(errors) && depth < mostCauses ? errors.slice(0, mostErrors) : undefined
  return {
    kind,
    name: cut(name),
    message: cut(message),
    isPermanent: isPermanent === true,
    ...(typeof stack === 'string' && { stack: cut(stack) }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(inner !== undefined && { cause: inner }),
    ...(others !== undefined && {
      errors: others.map((each) => parseThrown(each, depth + 1)).filter((each) => each !== undefined),
    }),
  }
}

export function unpackThrown(packed: PackedThrown): unknown {
  if (packed.kind === 'value') return packed.value
  const error = emptyError(packed)
  const { name, stack } = packed
  if (error.name !== name) Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  if (stack !== undefined) error.stack = stack
  return error
}

function emptyError({ name, message, code, cause, errors, isPermanent }: PackedThrown & { readonly kind: 'error' }): Error {
  if (name === waitSignalName) return new WaitSignal()
  const options = cause === undefined ? {} : { cause: unpackThrown(cause) }
  if (isPermanent) return Object.assign(new PermanentError(message, options), code !== undefined && { code })
  if (isErrorCode(code)) return new TreadleError(code, message, options)
  const error =
    errors === undefined ? new Error(message, options) : new AggregateError(errors.map(unpackThrown), message, options)
  return Object.assign(error, code !== undefined && { code })
}

function isErrorCode(code: unknown): code is ErrorCode {
  return (errorCodes as readonly unknown[]).includes(code)
}

/** A thrown value may not be cloneable. */
function sendable(thrown: unknown): unknown {
  try {
    return structuredClone(thrown)
  } catch {
    return messageOf(thrown)
  }
}

function textOf(property: () => unknown): string | undefined {
  const value = read(() => String(property() ?? 'Error'))
  return typeof value === 'string' ? value : undefined
}

/** Reads a property of an error whose getters may throw. */
function read(property: () => unknown): unknown {
  try {
    return property()
  } catch {
    return undefined
  }
}
