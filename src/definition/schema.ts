import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Answer } from '../core/answer.ts'
import { type ErrorCode, TreadleError } from '../core/errors.ts'

/** Any Standard Schema: zod, valibot, arktype and others. */
export type Schema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>

/** Returns the value as parsed by the schema; throws a `TreadleError` that lists every issue with its path. */
export async function validate(schema: Schema, value: unknown, what: string, code: ErrorCode): Promise<unknown> {
  return validated(schema, value, what, code)
}

/** Like `validate`, but synchronous if the schema is. */
export function validated(schema: Schema, value: unknown, what: string, code: ErrorCode): Answer<unknown> {
  const outcome = schema['~standard'].validate(value)
  return outcome instanceof Promise ? outcome.then((late) => checked(late, what, code)) : checked(outcome, what, code)
}

/** The schemas of a job. */
export interface Schemas {
  readonly input?: Schema
  readonly output?: Schema
}

export function checkedSchemas(job: string, schemas: object): Schemas {
  for (const [name, schema] of Object.entries(schemas)) {
    if (name !== 'input' && name !== 'output')
      throw misplacedOptions(job, `"${name}" is no schema: there are "input" and "output".`)
    if (isSchema(schema)) continue
    throw new TreadleError('DEFINITION_INVALID', `Job "${job}": ${name} must be a Standard Schema (zod, valibot, arktype …)`)
  }
  return schemas
}

/** Many other libraries take options where a job is defined. */
export function misplacedOptions(job: string, problem: string): TreadleError {
  const message = `Job "${job}": ${problem} Options are methods of what define() returns, such as .retries(3)`
  return new TreadleError('DEFINITION_INVALID', message)
}

function isSchema(value: unknown): value is Schema {
  const standard = (value as { '~standard'?: { validate?: unknown } } | undefined)?.['~standard']
  return typeof standard?.validate === 'function'
}

function checked(outcome: StandardSchemaV1.Result<unknown>, what: string, code: ErrorCode): unknown {
  if (outcome.issues === undefined) return outcome.value
  throw new TreadleError(code, `The ${what} does not fit its schema: ${outcome.issues.map(issueText).join('; ')}`)
}

function issueText(issue: StandardSchemaV1.Issue): string {
  const path = issue.path?.map((segment) => String(typeof segment === 'object' ? segment.key : segment)).join('.')
  return path ? `${path}: ${issue.message}` : issue.message
}
