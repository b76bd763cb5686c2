import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { type Instant, parseInstant } from '../../core/time/instant.ts'
import { writtenArgs } from '../given-values.ts'
import type { HandlerFunction } from '../handler.ts'
import type { CallerTransaction, SqliteConnection } from '../transactions/caller-transaction.ts'
import { isSynchronous, refuseUnknown } from '../transactions/recognition.ts'
import type { SqlTransaction } from '../transactions/sql-transaction.ts'
import { type DispatchArguments, type DispatchOptions, dispatchOptions } from './dispatch.ts'
import type { Run } from './run.ts'
import type { ChildClass, DefinedJob } from './workflow.ts'

type Said = Pick<DispatchOptions, 'delay' | 'at' | 'in'>

/** What a draft needs from its job. */
export interface DraftSender {
  send(payload: unknown, options: DispatchOptions): Promise<Run>
  sendMany(payloads: readonly unknown[], options: DispatchOptions): Promise<readonly Run[]>
  sendAtOnce(payloads: readonly unknown[], options: DispatchOptions): readonly Run[]
}

/** Options for a single dispatch. Each method returns a new draft; the definition never changes. */
export class Draft<Input, Result> {
  readonly #said: Said
  readonly #sender: DraftSender

  constructor(said: Said, sender: DraftSender) {
    this.#said = said
    this.#sender = sender
  }

  /** Run no earlier than this long from now. */
  delay(delay: Duration): Draft<Input, Result> {
    return new Draft({ ...inOf(this.#said), ...after(delay) }, this.#sender)
  }

  /** Run no earlier than this instant; null means now. */
  at(at: Instant | null): Draft<Input, Result> {
    return new Draft({ ...inOf(this.#said), ...notBefore(at) }, this.#sender)
  }

  /**
   * Dispatch inside a transaction that the caller has begun: the job exists once it commits, and disappears if it is rolled back.
   */
  in(tx: SqliteConnection | SqlTransaction): FileDraft<Input, Result>
  in(tx: CallerTransaction): Draft<Input, Result>
  in(tx: CallerTransaction | SqlTransaction): Draft<Input, Result> | FileDraft<Input, Result> {
    return draftIn(tx, this.#said, this.#sender)
  }

  async dispatch(...args: DispatchArguments<Input>): Promise<Run<Result>> {
    return (await this.#sender.send(payloadOf(args), { ...this.#said, ...dispatchOptions(args[1]) })) as Run<Result>
  }

  async dispatchMany(payloads: readonly Input[], options: DispatchOptions = {}): Promise<readonly Run<Result>[]> {
    return (await this.#sender.sendMany(payloadsOf(payloads), {
      ...this.#said,
      ...dispatchOptions(options),
    })) as readonly Run<Result>[]
  }
}

/** A draft inside a transaction on a SQLite file. Such transactions are synchronous, and so are its dispatches. */
export class FileDraft<Input, Result> {
  readonly #said: Said
  readonly #sender: DraftSender

  constructor(said: Said, sender: DraftSender) {
    this.#said = said
    this.#sender = sender
  }

  /** Run no earlier than this long from now. */
  delay(delay: Duration): FileDraft<Input, Result> {
    return new FileDraft({ ...inOf(this.#said), ...after(delay) }, this.#sender)
  }

  /** Run no earlier than this instant; null means now. */
  at(at: Instant | null): FileDraft<Input, Result> {
    return new FileDraft({ ...inOf(this.#said), ...notBefore(at) }, this.#sender)
  }

  /** Stores the job before it returns. The queue must already be open: `await jobs.open()`. */
  dispatch(...args: DispatchArguments<Input>): Run<Result> {
    return this.#sender.sendAtOnce([payloadOf(args)], { ...this.#said, ...dispatchOptions(args[1]) })[0] as Run<Result>
  }

  dispatchMany(payloads: readonly Input[], options: DispatchOptions = {}): readonly Run<Result>[] {
    return this.#sender.sendAtOnce(payloadsOf(payloads), { ...this.#said, ...dispatchOptions(options) }) as readonly Run<Result>[]
  }
}

/** Rejects anything that is not a transaction right here: in a synchronous transaction, a rejected promise would go unnoticed. */
export function draftIn<Input, Result>(
  tx: CallerTransaction | SqlTransaction,
  said: Said,
  sender: DraftSender,
): Draft<Input, Result> | FileDraft<Input, Result> {
  refuseUnknown(tx)
  return isSynchronous(tx) ? new FileDraft({ ...said, in: tx }, sender) : new Draft({ ...said, in: tx }, sender)
}

/** Dispatches a job given by its key, class, definition or builder, or with a handler for this one job. */
export type DispatchNamed = (
  job: unknown,
  payload: unknown,
  options: DispatchOptions,
  handler?: HandlerFunction<never, unknown>,
) => Promise<Run>

/** A time for a job that is named later: `jobs.delay('1h').dispatch('send-email', mail)`. */
export class TimeDraft {
  readonly #said: Said
  readonly #dispatch: DispatchNamed

  constructor(said: Said, dispatch: DispatchNamed) {
    this.#said = said
    this.#dispatch = dispatch
  }

  delay(delay: Duration): TimeDraft {
    return new TimeDraft(after(delay), this.#dispatch)
  }

  at(at: Instant | null): TimeDraft {
    return new TimeDraft(notBefore(at), this.#dispatch)
  }

  args<Payload>(payload: Payload): PayloadDraft<Payload> {
    return new PayloadDraft(this.#said, payload, this.#dispatch)
  }

  /** A function in place of the payload is the handler of this one job. */
  dispatch<Input, Result>(job: DefinedJob<Input, Result>, ...args: DispatchArguments<Input>): Promise<Run<Result>>
  dispatch<Payload, Result>(job: ChildClass<Payload, Result>, ...args: DispatchArguments<Payload>): Promise<Run<Result>>
  dispatch<Result>(job: string, handler: HandlerFunction<null, Result>, options?: DispatchOptions): Promise<Run<Awaited<Result>>>
  dispatch(job: string, payload?: unknown, options?: DispatchOptions): Promise<Run>
  async dispatch<Result>(job: unknown, ...args: [payload?: unknown, options?: DispatchOptions]): Promise<Run<Result>> {
    const [given, options] = args
    const all = { ...this.#said, ...dispatchOptions(options) }
    const [payload, handler] = isHandler(given) ? [noPayload, given] : [payloadOf(args)]
    return (await this.#dispatch(job, payload, all, handler)) as Run<Result>
  }
}

/** A payload and a time for a job that is named later: `jobs.args({ … }).delay('1h').dispatch('send-email')`. */
export class PayloadDraft<Payload = unknown> {
  readonly #said: Said
  readonly #payload: Payload
  readonly #dispatch: DispatchNamed

  constructor(said: Said, payload: Payload, dispatch: DispatchNamed) {
    this.#said = said
    this.#payload = writtenArgs(payload) as Payload
    this.#dispatch = dispatch
  }

  delay(delay: Duration): PayloadDraft<Payload> {
    return new PayloadDraft(after(delay), this.#payload, this.#dispatch)
  }

  at(at: Instant | null): PayloadDraft<Payload> {
    return new PayloadDraft(notBefore(at), this.#payload, this.#dispatch)
  }

  /** A function after the key is the handler of this one job. */
  dispatch<Input, Result>(
    this: PayloadDraft<Widened<NoInfer<Input>>>,
    job: DefinedJob<Input, Result>,
    options?: DispatchOptions,
  ): Promise<Run<Result>>
  dispatch<Input, Result>(
    this: PayloadDraft<Widened<NoInfer<Input>>>,
    job: ChildClass<Input, Result>,
    options?: DispatchOptions,
  ): Promise<Run<Result>>
  dispatch<Result>(
    job: string,
    handler: HandlerFunction<Payload, Result>,
    options?: DispatchOptions,
  ): Promise<Run<Awaited<Result>>>
  dispatch(job: string, options?: DispatchOptions): Promise<Run>
  async dispatch<Result>(job: unknown, ...args: readonly unknown[]): Promise<Run<Result>> {
    const [given, afterHandler] = args
    const handler = isHandler(given) ? given : undefined
    const options = (handler === undefined ? given : afterHandler) as DispatchOptions | undefined
    return (await this.#dispatch(job, this.#payload, { ...this.#said, ...dispatchOptions(options) }, handler)) as Run<Result>
  }
}

/**
 * What a payload must fit that was given before its job: `{ kind: 'daily' }` alone has become `{ kind: string }`, and a list has
 * lost its length.
 */
type Widened<Input> = Input extends string
  ? string
  : Input extends number
    ? number
    : Input extends boolean
      ? boolean
      : Input extends readonly (infer Each)[]
        ? readonly Widened<Each>[]
        : Input extends object
          ? { readonly [Name in keyof Input]: Widened<Input[Name]> }
          : Input

function isHandler(given: unknown): given is HandlerFunction<never, unknown> {
  return typeof given === 'function'
}

/** Means that no payload was given. */
export const noPayload: unique symbol = Symbol('no payload')

/** Undefined before the options means that there is no payload; alone it is probably a mistake, and is refused as not JSON. */
export function payloadOf(args: readonly unknown[]): unknown {
  const isLeftOut = args.length === 0 || (args.length > 1 && args[0] === undefined)
  return isLeftOut ? noPayload : args[0]
}

/** In a list, `undefined` is the payload of a job that takes none. What is no list is refused later. */
export function payloadsOf(payloads: readonly unknown[]): readonly unknown[] {
  if (!Array.isArray(payloads) || !payloads.includes(undefined)) return payloads
  return Array.from(payloads, (payload: unknown) => (payload === undefined ? noPayload : payload))
}

/** A later time replaces an earlier one, so only the transaction is kept. */
function inOf(said: Said): Pick<Said, 'in'> {
  return said.in === undefined ? {} : { in: said.in }
}

function after(delay: Duration): Said {
  return { delay: parseDuration(delay, 'delay') }
}

function notBefore(at: Instant | null): Said {
  if (at === null) return { at }
  return { at: new Date(parseInstant(at, 'at')) }
}
