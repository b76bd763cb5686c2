import { messageOf } from '../core/errors.ts'
import { shown } from '../core/text/shown.ts'
import { parseZone } from '../scheduling/calendar/zone.ts'
import type { DefinitionFields } from './fields.ts'

type Shapes = { readonly [Name in keyof DefinitionFields]?: readonly [fits: (value: unknown) => boolean, form: string] }

const shapes: Shapes = {
  enabled: [isBoolean, 'true or false'],
  restricted: [isBoolean, 'true or false'],
  encrypt: [orNull(isBoolean), 'true or false'],
  retry: [(value) => isFunction(value) || has(value, 'strategy'), "options such as { base: '1s' }, or a function"],
  retryIf: [orNull(isFunction), 'a function'],
  isolation: [orNull((value) => has(value, 'kind')), "'thread' or 'process'"],
  rate: [orNull((value) => has(value, 'limit')), 'an object such as { limit: 100, perMs: 60000 }'],
  group: [orNull(hasKey), 'an object such as { key: (payload) => payload.customer }'],
  unique: [orNull((value) => has(value, 'word') && hasKey(value)), 'a key, or a function that computes it from the payload'],
  idempotencyKey: [orNull(isFunction), 'a key, or a function that computes it from the payload'],
  keep: [isObject, "an object such as { succeeded: '1d' }"],
  misfire: [orNull((value) => has(value, 'kind')), "'skip', 'latest' or 'all'"],
  schedule: [orNull((value) => has(value, 'expression')), 'a schedule'],
  failWhen: [isListOfFunctions, 'a list of functions'],
  when: [isListOfFunctions, 'a list of functions'],
  skip: [isListOfFunctions, 'a list of functions'],
  before: [isListOfFunctions, 'a list of functions'],
  onSuccess: [isListOfFunctions, 'a list of functions'],
  onError: [isListOfFunctions, 'a list of functions'],
  finally: [isListOfFunctions, 'a list of functions'],
}

const checked = Object.entries(shapes) as readonly (readonly [keyof DefinitionFields, NonNullable<Shapes[keyof Shapes]>])[]

/** What the compiler refuses and a program in JavaScript can still give: the other checks rely on these shapes. */
export function shapeProblems(fields: DefinitionFields): readonly string[] {
  const wrong = checked.filter(([name, [fits]]) => !fits(fields[name]))
  const problems = wrong.map(([name, [, form]]) => `${name} must be ${form}, got ${shown(fields[name])}`)
  return [...problems, ...problemOf(() => fields.timezone === null || parseZone(fields.timezone))]
}

function problemOf(check: () => unknown): readonly string[] {
  try {
    check()
    return []
  } catch (thrown) {
    return [messageOf(thrown)]
  }
}

function orNull(fits: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === null || fits(value)
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function has(value: unknown, name: string): boolean {
  return isObject(value) && name in value
}

function hasKey(value: unknown): boolean {
  return isObject(value) && 'key' in value && isFunction(value.key)
}

function isListOfFunctions(value: unknown): boolean {
  return Array.isArray(value) && value.every(isFunction)
}
