import { type JsonSchema, type JsonType, storablePattern } from '../../../client/api/shape.ts'
import { messageOf } from '../../../core/errors.ts'
import { suggestion } from '../../../core/options.ts'
import { parseInstant } from '../../../core/time/instant.ts'

/** A problem with a request. */
export interface Fault {
  /** A JSON pointer, or the part of the request that is meant. */
  readonly pointer: string
  readonly detail: string
}

/** Maximum number of faults to report: a body of a megabyte could have a million. */
const mostFaults = 50

/** Every mismatch between a value and its schema. */
export function faultsOf(schema: JsonSchema, value: unknown, pointer = ''): readonly Fault[] {
  const faults: Fault[] = []
  check(schema, value, pointer, faults)
  return faults
}

function check(schema: JsonSchema, value: unknown, pointer: string, faults: Fault[]): void {
  if (faults.length >= mostFaults) return
  if (schema.oneOf !== undefined) checkChoice(schema, value, pointer, faults)
  else if (schema.anyOf !== undefined) checkAny(schema.anyOf, value, pointer, faults)
  else checkPlain(schema, value, pointer, faults)
}

function checkPlain(schema: JsonSchema, value: unknown, pointer: string, faults: Fault[]): void {
  const say = (detail: string) => void faults.push({ pointer, detail })
  const known = schema.const === undefined ? schema.enum : [schema.const]
  if (schema.type !== undefined && !isOfType(schema.type, value)) say(`must be ${typeText(schema.type)}, got ${gotText(value)}`)
  else if (known !== undefined && !known.includes(value as never))
    say(`must be ${orText(known.map(shown))}, got ${gotText(value)}`)
  else if (typeof value === 'string') checkText(schema, value, say)
  else if (typeof value === 'number') checkNumber(schema, value, say)
  else if (Array.isArray(value)) checkList(schema, value, pointer, faults)
  else if (typeof value === 'object' && value !== null) checkObject(schema, value, pointer, faults)
}

type Say = (detail: string) => void

function checkText({ minLength = 0, maxLength, pattern, examples, format }: JsonSchema, value: string, say: Say): void {
  if (value.length < minLength) say(minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`)
  else if (maxLength !== undefined && value.length > maxLength)
    say(`must have at most ${maxLength} characters, got ${value.length}`)
  else if (pattern !== undefined && !patternOf(pattern).test(value))
    say(`must ${formText(pattern, examples)}, got ${gotText(value)}`)
  else if (format === 'date-time') {
    try {
      parseInstant(value, 'it')
    } catch (thrown) {
      say(messageOf(thrown).replace(/^it /, ''))
    }
  }
}

function formText(pattern: string, examples: JsonSchema['examples']): string {
  if (pattern === storablePattern) return 'not contain the character U+0000'
  return examples === undefined ? `match ${pattern}` : `be a string such as ${orText(examples.map(shown))}`
}

function checkNumber(schema: JsonSchema, value: number, say: Say): void {
  // Larger integers lose precision.
  const most = [schema.type ?? []].flat().includes('integer') ? Number.MAX_SAFE_INTEGER : Number.POSITIVE_INFINITY
  const { minimum = -most, maximum = most } = schema
  if (value < minimum) say(`must be at least ${minimum}, got ${value}`)
  else if (value > maximum) say(`must be at most ${maximum}, got ${value}`)
}

function checkList(
  { items, minItems = 0, maxItems }: JsonSchema,
  value: readonly unknown[],
  pointer: string,
  faults: Fault[],
): void {
  if (value.length < minItems)
    faults.push({ pointer, detail: `must have at least ${minItems} ${minItems === 1 ? 'entry' : 'entries'}` })
  if (maxItems !== undefined && value.length > maxItems) {
    faults.push({ pointer, detail: `must have at most ${maxItems} entries, got ${value.length}` })
    return
  }
  if (items === undefined) return
  for (let at = 0; at < value.length && faults.length < mostFaults; at++) check(items, value[at], `${pointer}/${at}`, faults)
}

function checkObject(schema: JsonSchema, value: object, pointer: string, faults: Fault[]): void {
  const { properties = {}, required = [], additionalProperties = true } = schema
  const at = (name: string) => `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  for (const name of required) {
    if (!Object.hasOwn(value, name)) faults.push({ pointer: at(name), detail: 'is missing' })
  }
  for (const [name, member] of Object.entries(value)) {
    const described = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    if (described === false) {
      faults.push({ pointer: at(name), detail: `is not known here${suggestion(name, Object.keys(properties))}` })
    } else if (typeof described === 'object') check(described, member, at(name), faults)
    if (faults.length >= mostFaults) return
  }
}

/** Reports the faults against the schema that was meant: the one of the right type, if there is exactly one. */
function checkAny(choices: readonly JsonSchema[], value: unknown, pointer: string, faults: Fault[]): void {
  const schemas = choices.flatMap(singleSchemas)
  const all = schemas.map((schema) => faultsOf(schema, value, pointer))
  if (all.some(({ length }) => length === 0)) return
  const meant = all.filter((_, index) => isOfType(schemas[index]?.type ?? [], value))
  if (meant.length === 1) faults.push(...(meant[0] as readonly Fault[]))
  else {
    const types = schemas.flatMap(({ type = [] }) => type)
    faults.push({ pointer, detail: `must be ${typeText([...new Set(types)])}, got ${gotText(value)}` })
  }
}

/** Flattens nested choices. */
function singleSchemas(schema: JsonSchema): readonly JsonSchema[] {
  return schema.anyOf?.flatMap(singleSchemas) ?? [schema]
}

function checkChoice(schema: JsonSchema, value: unknown, pointer: string, faults: Fault[]): void {
  const by = schema.discriminator?.propertyName ?? ''
  const said = (Object(value) as Record<string, unknown>)[by]
  const meant = schema.oneOf?.find(({ properties }) => properties?.[by]?.const === said)
  if (!isOfType('object', value)) faults.push({ pointer, detail: `must be an object, got ${gotText(value)}` })
  else if (meant !== undefined) check(meant, value, pointer, faults)
  else {
    const known = schema.oneOf?.map(({ properties }) => shown(properties?.[by]?.const)) ?? []
    faults.push({ pointer: `${pointer}/${by}`, detail: `must be ${orText(known)}, got ${gotText(said)}` })
  }
}

const patterns = new Map<string, RegExp>()

function patternOf(text: string): RegExp {
  const known = patterns.get(text) ?? new RegExp(text, 'u')
  patterns.set(text, known)
  return known
}

function isOfType(types: JsonType | readonly JsonType[], value: unknown): boolean {
  return [types].flat().some((type) => type === typeOf(value) || (type === 'number' && typeof value === 'number'))
}

function typeOf(value: unknown): JsonType | 'nothing' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number'
    case 'string':
    case 'boolean':
    case 'object':
      return typeof value as JsonType
    default:
      return 'nothing'
  }
}

const typeWords: Readonly<Record<JsonType, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

function typeText(types: JsonType | readonly JsonType[]): string {
  return orText([types].flat().map((type) => typeWords[type]))
}

function orText(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing'
}

const longestShown = 60

/** Kept short: the value may be large or confidential. */
function gotText(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  const text = shown(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}
