import type { AnswerOf, BodyOf, Operation, ParametersOf, QueryOf } from '../../client/api/operation.ts'
import { type OperationName, type Operations, operations } from '../../client/api/operations.ts'

import type { Grant } from '../access/grant.ts'

/** A validated request. */
export interface Asked<Wanted extends Operation> {
  readonly params: ParametersOf<Wanted>
  readonly query: QueryOf<Wanted>
  readonly body: BodyOf<Wanted>
  readonly exchange: Exchange
}

/** The rest of a request. */
export interface Exchange {
  /** The body as it was sent. */
  readonly text: string
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Aborts when the client disconnects or the server stops. */
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
  /** Sent piece by piece after the headers, instead of a body. It is closed if it is not sent. */
  readonly stream?: AsyncGenerator<string, void>
  /** Called if the reply was not delivered. */
  readonly undelivered?: () => Promise<void>
}

/** The handler of each operation. */
export type Handlers = {
  readonly [Name in OperationName]: (asked: Asked<Operations[Name]>) => Promise<Reply<Operations[Name]>>
}

/** An operation with its handler. */
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
