import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { operations } from '../../../src/client/api/operations.ts'
import { openApiDocument } from '../../../src/server/http/wire/openapi.ts'
import { serving } from './serving.ts'

interface Described {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
}

const document = openApiDocument() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

test('the document is sound OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
})

test('it has every operation once, under its name', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  )
  const known = Object.entries(operations).map(([name, { method, path }]) => `${name} ${method} /api/v1${path}`)
  expect(described.toSorted()).toEqual(known.toSorted())
})

test('everything that it refers to is there, and everything that is there is referred to', () => {
  const text = JSON.stringify(document)
  const references = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name))
  expect([...references].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted())
})

test('it says nothing of what is only in the types', () => {
  expect(JSON.stringify(document)).not.toContain('undefined')
})

test('it describes how each operation refuses what it does not know', async () => {
  const { url } = await serving()
  const undescribed: string[] = []
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, responses }] of Object.entries(methods)) {
      const address = `${new URL(url).origin}${path.replaceAll(/\{\w+\}/g, 'x')}?nonsense=1`
      const { status, body } = await fetch(address, { method: method.toUpperCase() })
      await body?.cancel()
      if (responses[status] === undefined || status < 400) undescribed.push(`${operationId}: ${status}`)
    }
  }
  expect(undescribed).toEqual([])
})

test('the server gives it to whoever may ask', async () => {
  const { ask, url } = await serving()
  expect((await ask('GET', '/openapi.json')).body).toEqual(JSON.parse(JSON.stringify(document)))
  const short = await fetch(`${url}/openapi.json`)
  expect(await short.json()).toEqual(JSON.parse(JSON.stringify(document)))
})
