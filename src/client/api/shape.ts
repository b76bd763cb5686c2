import type { Json } from '../../core/text/json.ts'

/**
 * The part of JSON Schema (2020-12) that describes the API. Every keyword here is also checked: see
 * `server/http/wire/checking.ts`.
 */
export interface JsonSchema {
  readonly type?: JsonType | readonly JsonType[]
  readonly description?: string
  readonly default?: Json
  readonly enum?: readonly Json[]
  readonly const?: Json
  readonly format?: 'date-time'
  readonly pattern?: string
  /** Shown when a value does not match the pattern. */
  readonly examples?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
  /** Any of these. */
  readonly anyOf?: readonly JsonSchema[]
  /** Selected by the member that `discriminator` names. */
  readonly oneOf?: readonly JsonSchema[]
  readonly discriminator?: { readonly propertyName: string }
}

export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null'

declare const value: unique symbol

/** A schema that carries the type of what it describes. */
export interface Shape<Value> extends JsonSchema {
  readonly [value]?: Value
}

export type ValueOf<Described> = Described extends { readonly [value]?: infer Value } ? Value : never

type Words = Pick<JsonSchema, 'description' | 'default'>

export function text(
  rules: Words & Pick<JsonSchema, 'minLength' | 'maxLength' | 'pattern' | 'examples' | 'format'> = {},
): Shape<string> {
  return { type: 'string', ...rules }
}

/** A text that every database can store and search for: PostgreSQL refuses U+0000. */
export function storable(rules: Words & Pick<JsonSchema, 'minLength' | 'maxLength'> = {}): Shape<string> {
  return text({ ...rules, pattern: storablePattern })
}

export const storablePattern = '^[^\\u0000]*$'

/** ISO 8601 with an offset. */
export function instant(rules: Words = {}): Shape<string> {
  return { type: 'string', format: 'date-time', ...rules }
}

export function integer(rules: Words & Pick<JsonSchema, 'minimum' | 'maximum'> = {}): Shape<number> {
  return { type: 'integer', ...rules }
}

export function flag(rules: Words = {}): Shape<boolean> {
  return { type: 'boolean', ...rules }
}

/** Any JSON value. */
export function anything(rules: Words = {}): Shape<Json> {
  return { ...rules }
}

export function words<const Word extends string>(known: readonly Word[], rules: Words = {}): Shape<Word> {
  return { type: 'string', enum: known, ...rules }
}

/** Milliseconds, or text such as `30s` or `1h30m`. */
export function duration(rules: Words = {}): Shape<number | string> {
  const pattern = '^(?:\\d+(?:\\.\\d+)?(?:ms|s|m|h|d|w))+$'
  return { anyOf: [integer({ minimum: 0 }), text({ pattern, examples: ['250ms', '30s', '1h30m'], maxLength: 100 })], ...rules }
}

export function nullable<Value>(shape: Shape<Value>): Shape<Value | null> {
  const { description, ...rest } = shape
  const words = description === undefined ? {} : { description }
  return typeof rest.type === 'string' && rest.enum === undefined
    ? { ...shape, type: [rest.type, 'null'] }
    : { anyOf: [rest, { type: 'null' }], ...words }
}

export function list<Value>(
  items: Shape<Value>,
  rules: Words & Pick<JsonSchema, 'minItems' | 'maxItems'> = {},
): Shape<readonly Value[]> {
  return { type: 'array', items, ...rules }
}

/** An object with arbitrary members of this shape. */
export function record<Value>(members: Shape<Value>, rules: Words = {}): Shape<Readonly<Record<string, Value>>> {
  return { type: 'object', additionalProperties: members, ...rules }
}

type Members = Readonly<Record<string, Shape<unknown>>>

type ObjectOf<Required extends Members, Optional extends Members> = {
  readonly [Name in keyof Required]: ValueOf<Required[Name]>
} & { readonly [Name in keyof Optional]?: ValueOf<Optional[Name]> }

type Flat<Value> = { readonly [Name in keyof Value]: Value[Name] }

/** For responses. Members may be added later, so clients must accept members that they do not know. */
export function object<Required extends Members, Optional extends Members = Record<never, never>>(
  required: Required,
  optional?: Optional,
  rules: Words = {},
): Shape<Flat<ObjectOf<Required, Optional>>> {
  return { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required), ...rules }
}

/** For requests. Unknown members are rejected, so that a misspelt one does not silently become a default. */
export function input<Required extends Members, Optional extends Members = Record<never, never>>(
  required: Required,
  optional?: Optional,
  rules: Words = {},
): Shape<Flat<ObjectOf<Required, Optional>>> {
  return { ...object(required, optional, rules), additionalProperties: false }
}

/** One of several objects, distinguished by a member with a different literal in each: `{ [by]: literal('done') }`. */
export function choice<const Shapes extends readonly Shape<unknown>[]>(
  by: string,
  shapes: Shapes,
  rules: Words = {},
): Shape<ValueOf<Shapes[number]>> {
  return { oneOf: shapes, discriminator: { propertyName: by }, ...rules }
}

export function literal<const Word extends string>(word: Word, rules: Words = {}): Shape<Word> {
  return { type: 'string', const: word, ...rules }
}
