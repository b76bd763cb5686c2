import { type ErrorCode, messageOf, TreadleError } from '../errors.ts'

/** Any value that survives JSON unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

const maxDepth = 100

export interface JsonLimits {
  /** What is being serialized, for the error: `payload of "send-email"`. */
  readonly what: string
  readonly maxBytes: number
  readonly invalid?: ErrorCode
}

/**
 * Serializes a value. Throws a `TreadleError` that names any part that JSON would silently drop or change: a function, a BigInt,
 * NaN, a Map, an Error, a circular reference. Properties that are `undefined` are left out, as in JSON.
 */
export function toJson(value: unknown, limits: JsonLimits): string {
  try {
    refuseUnsound(value, limits)
    const text = JSON.stringify(value)
    refuseTooLarge(text, limits)
    return text
  } catch (thrown) {
    throw thrown instanceof TreadleError ? thrown : unreadable(thrown, limits)
  }
}

/** A getter, a `toJSON` or a proxy of the value threw. */
function unreadable(cause: unknown, { what, invalid = 'PAYLOAD_NOT_JSON' }: JsonLimits): TreadleError {
  return new TreadleError(invalid, `The ${what} is not JSON: reading it threw ${messageOf(cause)}`, { cause })
}

/** Makes the same checks on a value that was read from this text. A number like 1e400 is read as `Infinity`. */
export function refuseWritten(value: unknown, text: string, limits: JsonLimits): void {
  refuseUnsound(value, limits, 'cannot be stored')
  refuseTooLarge(text, limits)
}

/** A text several times too long is not written at all: a few values that are referenced again and again can make it endless. */
const mostTimesTooLong = 8

function refuseUnsound(value: unknown, limits: JsonLimits, verdict = 'is not JSON'): void {
  const { what, maxBytes, invalid = 'PAYLOAD_NOT_JSON' } = limits
  const room = new Room(mostTimesTooLong * maxBytes)
  const problem = problemOf(value, '', 0, room)
  if (room.isOver) throw tooLarge(`more than ${mostTimesTooLong * maxBytes}`, limits)
  if (problem !== undefined) throw new TreadleError(invalid, `The ${what} ${verdict}: ${problem}`)
}

/** The remaining space, counted by the minimum size of each part. */
class Room {
  #left: number

  constructor(characters: number) {
    this.#left = characters
  }

  get isOver(): boolean {
    return this.#left < 0
  }

  take(characters: number): void {
    this.#left -= characters
  }
}

function refuseTooLarge(text: string, { what, maxBytes }: JsonLimits): void {
  if (text.length * 3 <= maxBytes || byteLength(text) <= maxBytes) return
  throw tooLarge(String(byteLength(text)), { what, maxBytes })
}

/** Works in a browser too. */
function byteLength(text: string): number {
  return typeof Buffer === 'undefined' ? new TextEncoder().encode(text).length : Buffer.byteLength(text)
}

function tooLarge(bytes: string, { what, maxBytes }: Pick<JsonLimits, 'what' | 'maxBytes'>): TreadleError {
  const message = `The ${what} takes ${bytes} bytes, more than the ${maxBytes} allowed. Store it elsewhere and pass a reference.`
  return new TreadleError('PAYLOAD_TOO_LARGE', message)
}

function problemOf(value: unknown, path: string, depth: number, room: Room): string | undefined {
  switch (typeof value) {
    case 'string':
      room.take(value.length)
      return undefined
    case 'boolean':
      return undefined
    case 'number':
      if (Number.isFinite(value)) return undefined
      return `${at(path)} is ${value}${Number.isNaN(value) ? '' : ', a number out of range'}`
    case 'object':
      return value === null ? undefined : objectProblem(value, path, depth, room)
    default:
      return `${at(path)} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`
  }
}

function objectProblem(value: object, path: string, depth: number, room: Room): string | undefined {
  room.take(2)
  if (depth >= maxDepth) return `${at(path)} is circular or nested deeper than ${maxDepth} levels`
  if (Array.isArray(value)) {
    room.take(value.length)
    for (let index = 0; index < value.length && !room.isOver; index++) {
      const problem = problemOf(value[index], `${path}[${index}]`, depth + 1, room)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonFormProblem(value as Jsonable, path, depth, room)
  if (holdsMoreThanMembers(value)) return `${at(path)} is a ${value.constructor?.name}`
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined) continue
    if (room.isOver) return undefined
    room.take(key.length)
    if (typeof member === 'string') room.take(member.length)
    if (typeof member === 'string' || typeof member === 'boolean') continue
    const problem = problemOf(member, path === '' ? key : `${path}.${key}`, depth + 1, room)
    if (problem !== undefined) return problem
  }
  return undefined
}

const opaque = [Map, Set, WeakMap, WeakSet, WeakRef, Promise, Error, RegExp, ArrayBuffer, SharedArrayBuffer] as const

/** Whether JSON would write only the members and drop what the object is about. */
function holdsMoreThanMembers(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return false
  return ArrayBuffer.isView(value) || opaque.some((kind) => value instanceof kind)
}

interface Jsonable {
  toJSON(): unknown
}

function jsonFormProblem(value: Jsonable, path: string, depth: number, room: Room): string | undefined {
  if (value instanceof Date && Number.isNaN(value.getTime())) return `${at(path)} is an invalid Date`
  return problemOf(value.toJSON(), path, depth + 1, room)
}

function at(path: string): string {
  return path === '' ? 'it' : `"${shortened(path)}"`
}

const longestPath = 80

/** Keeps both ends of the path, which locate the part; the middle of a circular reference adds nothing. */
function shortened(path: string): string {
  if (path.length <= longestPath) return path
  return `${path.slice(0, longestPath / 2)}…${path.slice(-longestPath / 4)}`
}
