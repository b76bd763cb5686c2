import type { Answer, Operation } from '../../../client/api/operation.ts'
import { prefix, roleNeededFor } from '../../../client/api/operation.ts'
import { operations } from '../../../client/api/operations.ts'
import { type ProblemKind, problem, problemKinds, problemType } from '../../../client/api/problem.ts'
import type { JsonSchema } from '../../../client/api/shape.ts'
import type { Json } from '../../../core/text/json.ts'
import { version } from '../../../core/version.ts'
import { namedShapes } from './named-shapes.ts'

type Document = Readonly<Record<string, Json>>

/** The OpenAPI 3.1 description of the API, generated from the same table as the server itself. */
export function openApiDocument(): Document {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [operationId, operation] of Object.entries(operations)) {
    const path = `${prefix}${operation.path}`
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described(operationId, operation) }
  }
  const schemas = Object.entries(namedShapes).map(([name, shape]) => [name, schemaOf(shape, true)])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Treadle',
      version,
      summary: 'Background jobs: create, inspect, change and run them from any language.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, {}],
    tags: [...new Set(Object.values(operations).map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(schemas) as Document,
    },
  }
}

function described(operationId: string, operation: Operation): Json {
  const { tag, summary, description, body, answers, open } = operation
  const parameters = parametersOf(operation)
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: open ? [] : [{ token: [roleNeededFor(operation)] }, {}],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: jsonContent(body) } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer)])),
      ...problemAnswers(operation),
    },
  }
}

function parametersOf({ parameters = {}, query = {}, headers = {} }: Operation): readonly Json[] {
  const entries = (place: string, schemas: Readonly<Record<string, JsonSchema>>, required: boolean) =>
    Object.entries(schemas).map(([name, schema]) => {
      const { description, ...rest } = schema
      return { name, in: place, required, ...(description !== undefined && { description }), schema: schemaOf(rest) }
    })
  return [
    ...entries('path', parameters, true),
    ...entries('query', query.properties ?? {}, false),
    ...entries('header', headers, false),
  ]
}

function answerOf({ description, body, stream }: Answer): Json {
  if (stream !== undefined) return { description, content: { 'text/event-stream': { schema: schemaOf(stream) } } }
  return { description, ...(body !== undefined && { content: jsonContent(body) }) }
}

function jsonContent(body: JsonSchema): Document {
  return { 'application/json': { schema: schemaOf(body) } }
}

/** The problems that every operation may return in addition to its own. */
function problemAnswers({ problems, open, body, method }: Operation): Document {
  const always: readonly ProblemKind[] = [
    // Unknown query parameters are refused everywhere.
    'invalid-request',
    ...(open ? [] : (['unauthorized', 'forbidden', 'too-many-failures'] as const)),
    ...(body === undefined ? [] : (['malformed-json', 'body-too-large', 'not-json'] as const)),
    ...(method === 'GET' && open ? [] : (['internal-error', 'capability-missing'] as const)),
    'unavailable',
  ]
  const all = [...new Set([...problems, ...always])]
  const entries = [...new Set(all.map(statusOf))].map((status) => {
    const kinds = all.filter((kind) => statusOf(kind) === status)
    const description = kinds.map((kind) => `${problemKinds[kind].title} (\`${problemType(kind)}\`).`).join(' ')
    return [status, { description, content: { 'application/problem+json': { schema: schemaOf(problem) } } }]
  })
  return Object.fromEntries(entries) as Document
}

function statusOf(kind: ProblemKind): number {
  return problemKinds[kind].status
}

const names = new Map<JsonSchema, string>(Object.entries(namedShapes).map(([name, shape]) => [shape, name]))

/** Named shapes are written once and referenced. */
function schemaOf(schema: JsonSchema, isDefinition = false): Json {
  const name = names.get(schema)
  if (name !== undefined && !isDefinition) return { $ref: refTo(name) }
  const { properties, items, additionalProperties, anyOf, oneOf, discriminator, ...rest } = schema
  return {
    ...(rest as Document),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, member]) => [key, schemaOf(member)])),
    }),
    ...(items !== undefined && { items: schemaOf(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: typeof additionalProperties === 'boolean' ? additionalProperties : schemaOf(additionalProperties),
    }),
    ...(anyOf !== undefined && { anyOf: anyOf.map((each) => schemaOf(each)) }),
    ...(oneOf !== undefined && { oneOf: oneOf.map((each) => schemaOf(each)) }),
    ...(discriminator !== undefined &&
      oneOf !== undefined && { discriminator: discriminatorOf(discriminator.propertyName, oneOf) }),
  }
}

function discriminatorOf(propertyName: string, oneOf: readonly JsonSchema[]): Json {
  const mapping = oneOf.map((each) => [each.properties?.[propertyName]?.const, refTo(names.get(each) ?? '')])
  return { propertyName, mapping: Object.fromEntries(mapping) as Document }
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`
}
