import type { ProblemKind } from './problem.ts'
import type { Role } from './roles.ts'
import type { JsonSchema, Shape, ValueOf } from './shape.ts'

/** One thing that the API can do. The server's routes, the client's methods and the OpenAPI document are all made of these. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the prefix, with its parameters in braces. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: Readonly<Record<string, Shape<string>>>
  /** An object, of which each member is a parameter. */
  readonly query?: JsonSchema
  readonly headers?: Readonly<Record<string, Shape<string>>>
  readonly body?: JsonSchema
  /** Whether the body may be left out. */
  readonly bodyIsOptional?: true
  readonly answers: Readonly<Record<number, Answer>>
  readonly problems: readonly ProblemKind[]
  /** Answered without a token. */
  readonly open?: true
  /** What a token must be for; to look, where it is a GET and nothing is said. */
  readonly role?: Role
}

/** Nobody but an admin may do what nothing is said of. */
export function roleNeededFor({ role, method }: Pick<Operation, 'role' | 'method'>): Role {
  return role ?? (method === 'GET' ? 'read' : 'admin')
}

export interface Answer {
  readonly description: string
  /** Absent where there is no body. */
  readonly body?: JsonSchema
  /** Server-sent events, the data of each of which has this shape. */
  readonly stream?: JsonSchema
}

type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

export type ParametersOf<Asked extends Operation> = { readonly [Name in ParameterNames<Asked['path']>]: string }
export type QueryOf<Asked> = Asked extends { readonly query: infer Query } ? ValueOf<Query> : Readonly<Record<never, never>>
export type BodyOf<Asked> = Asked extends { readonly body: infer Body } ? ValueOf<Body> : undefined
export type AnswerOf<Answered> = Answered extends { readonly body: infer Body } ? ValueOf<Body> : undefined
/** What it gives, whatever the status. */
export type ResultOf<Asked extends Operation> = {
  [Status in keyof Asked['answers']]: AnswerOf<Asked['answers'][Status]>
}[keyof Asked['answers']]

export const prefix = '/api/v1'
