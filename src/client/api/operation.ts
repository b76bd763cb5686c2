import type { ProblemKind } from './problem.ts'
import type { Role } from './roles.ts'
import type { JsonSchema, Shape, ValueOf } from './shape.ts'

/**
 * One operation of the API. The server's routes, the client's methods and the OpenAPI document are all derived from
 * these.
 */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below the prefix, with its parameters in braces. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: Readonly<Record<string, Shape<string>>>
  /** An object whose members are the query parameters. */
  readonly query?: JsonSchema
  readonly headers?: Readonly<Record<string, Shape<string>>>
  readonly body?: JsonSchema
  /** Whether the body may be omitted. */
  readonly bodyIsOptional?: true
  readonly answers: Readonly<Record<number, Answer>>
  readonly problems: readonly ProblemKind[]
  /** Whether it needs no token. */
  readonly open?: true
  /** The role that the token needs. By default, `read` for a GET and `admin` for everything else. */
  readonly role?: Role
}

/** Operations other than GET need the admin role unless they name another one. */
export function roleNeededFor({ role, method }: Pick<Operation, 'role' | 'method'>): Role {
  return role ?? (method === 'GET' ? 'read' : 'admin')
}

export interface Answer {
  readonly description: string
  /** Absent if there is no body. */
  readonly body?: JsonSchema
  /** For server-sent events: the shape of each event's data. */
  readonly stream?: JsonSchema
}

type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

export type ParametersOf<Asked extends Operation> = { readonly [Name in ParameterNames<Asked['path']>]: string }
export type QueryOf<Asked> = Asked extends { readonly query: infer Query } ? ValueOf<Query> : Readonly<Record<never, never>>
export type BodyOf<Asked> = Asked extends { readonly body: infer Body } ? ValueOf<Body> : undefined
export type AnswerOf<Answered> = Answered extends { readonly body: infer Body } ? ValueOf<Body> : undefined
/** What the operation returns, whatever the status. */
export type ResultOf<Asked extends Operation> = {
  [Status in keyof Asked['answers']]: AnswerOf<Asked['answers'][Status]>
}[keyof Asked['answers']]

export const prefix = '/api/v1'
