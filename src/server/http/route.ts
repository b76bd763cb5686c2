import type { AnswerOf, BodyOf, Operation, ParametersOf, QueryOf } from '../../client/api/operation.ts'
import { type OperationName, type Operations, operations } from '../../client/api/operations.ts'

import type { Grant } from '../access/grant.ts'

/** A request that was checked. */
export interface Asked<Wanted extends Operation> {
  readonly params: ParametersOf<Wanted>
  readonly query: QueryOf<Wanted>
  readonly body: BodyOf<Wanted>
  readonly exchange: Exchange
}

/** The rest of a request. */
export interface Exchange {
  /** The body as it came. */
  readonly text: string
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  /** Aborted when the client goes away, or the server is stopped. */
  readonly signal: () => AbortSignal
  /** What the client may do, and with which jobs. */
  readonly grant: Grant
}

export type Reply<Wanted extends Operation> = {
  [Status in keyof Wanted['answers']]: ReplyWith<Status, AnswerOf<Wanted['answers'][Status]>>
}[keyof Wanted['answers']]

interface ReplyWith<Status, Body> {
  readonly status: Status
  readonly body: Body
  readonly headers?: Readonly<Record<string, string>>
  /** What follows the head, piece by piece, in place of a body. Where it is not sent, it is ended. */
  readonly stream?: AsyncGenerator<string, void>
  /** Called where the answer did not reach the connection. */
  readonly undelivered?: () => Promise<void>
}

/** What does the work of each operation. */
export type Handlers = {
  readonly [Name in OperationName]: (asked: Asked<Operations[Name]>) => Promise<Reply<Operations[Name]>>
}

/** An operation together with what does it. */
export interface Route {
  readonly name: OperationName
  readonly operation: Operation
  readonly handle: (asked: Asked<Operation>) => Promise<AnyReply>
}

export type AnyReply = ReplyWith<number, unknown>

export function routesOf(handlers: Handlers): readonly Route[] {
  return (Object.keys(operations) as OperationName[]).map((name) => ({
    name,
    operation: operations[name],
    handle: handlers[name] as unknown as Route['handle'],
  }))
}
