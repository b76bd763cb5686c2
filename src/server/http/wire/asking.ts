import type { Operation } from '../../../client/api/operation.ts'
import type { JsonSchema } from '../../../client/api/shape.ts'
import type { Grant } from '../../access/grant.ts'
import type { Asked, Exchange } from '../route.ts'
import type { Body } from './body.ts'
import { type Fault, faultsOf } from './checking.ts'
import { invalidRequest } from './http-problem.ts'

export interface Given {
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body | null
  readonly signal: () => AbortSignal
  readonly grant: Grant
}

/** Validates all parts of a request, and reports everything that is wrong with them at once. */
export function askedOf(operation: Operation, given: Given): Asked<Operation> {
  const { params, headers, body, signal, grant } = given
  const query = queryOf(operation.query, given.query)
  const said = body?.value
  const faults = [
    ...textFaults('path', operation.parameters ?? {}, params),
    ...query.faults,
    ...textFaults('header', operation.headers ?? {}, headers),
    ...bodyFaults(operation, said),
  ]
  if (faults.length > 0) throw invalidRequest(faults)
  const exchange: Exchange = { text: body?.text ?? '', headers, signal, grant }
  return { params, query: query.values, body: said, exchange } as unknown as Asked<Operation>
}

function bodyFaults({ body }: Operation, said: unknown): readonly Fault[] {
  if (body === undefined) return []
  return said === undefined ? [{ pointer: '', detail: 'must be JSON: the request has none' }] : faultsOf(body, said)
}

function textFaults(
  where: 'path' | 'header',
  schemas: Readonly<Record<string, JsonSchema>>,
  values: Readonly<Record<string, string>>,
): readonly Fault[] {
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const value = values[where === 'header' ? name.toLowerCase() : name]
    return value === undefined ? [] : faultsOf(schema, value, `${where}:${name}`)
  })
}

/** The values of a query, with defaults for those left out. */
function queryOf(
  schema: JsonSchema = {},
  given: URLSearchParams,
): { readonly values: object; readonly faults: readonly Fault[] } {
  const { properties = {} } = schema
  const defaults = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value]],
  )
  const said = [...given].map(([name, text]) => [name, readText(Object.hasOwn(properties, name) ? properties[name] : {}, text)])
  const values = Object.fromEntries([...defaults, ...said]) as object
  const twice = [...new Set(given.keys())].filter((name) => given.getAll(name).length > 1)
  const found = faultsOf({ type: 'object', properties, additionalProperties: false }, values)
  const faults = [
    ...twice.map((name) => ({ pointer: `query:${name}`, detail: 'is given twice' })),
    ...found.map(({ pointer, detail }) => ({ pointer: `query:${pointer.slice(1)}`, detail })),
  ]
  return { values, faults }
}

function readText(schema: JsonSchema | undefined, text: string): unknown {
  const isNumber = schema?.type === 'integer' && /^-?\d{1,15}$/.test(text)
  return isNumber ? Number(text) : text
}
