import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { type Instant, parseInstant } from '../../core/time/instant.ts'
import { writtenArgs } from '../given-values.ts'
import type { CallerTransaction, SqliteConnection } from '../transactions/caller-transaction.ts'
import { isSynchronous, refuseUnknown } from '../transactions/recognition.ts'
import type { SqlTransaction } from '../transactions/sql-transaction.ts'
import type { DispatchArguments, DispatchOptions } from './dispatch.ts'
import type { Run } from './run.ts'

type Said = Pick<DispatchOptions, 'delay' | 'at' | 'in'>

/** What a draft needs of the job that it is for. */
export interface DraftSender {
  send(payload: unknown, options: DispatchOptions): Promise<Run>
  sendMany(payloads: readonly unknown[], options: DispatchOptions): Promise<readonly Run[]>
  sendAtOnce(payloads: readonly unknown[], options: DispatchOptions): readonly Run[]
}

/** What is said for one dispatch only. Each method gives a new draft; the definition is never touched. */
export class Draft<Input, Result> {
  readonly #said: Said
  readonly #sender: DraftSender

  constructor(said: Said, sender: DraftSender) {
    this.#said = said
    this.#sender = sender
  }

  /** Not before this much time has passed. */
  delay(delay: Duration): Draft<Input, Result> {
    return new Draft({ ...inOf(this.#said), ...after(delay) }, this.#sender)
  }

  /** Not before this instant; null is at once. */
  at(at: Instant | null): Draft<Input, Result> {
    return new Draft({ ...inOf(this.#said), ...notBefore(at) }, this.#sender)
  }

  /** In a transaction that the caller has begun: the job exists when it is committed, and disappears if it is rolled back. */
  in(tx: SqliteConnection | SqlTransaction): FileDraft<Input, Result>
  in(tx: CallerTransaction): Draft<Input, Result>
  in(tx: CallerTransaction | SqlTransaction): Draft<Input, Result> | FileDraft<Input, Result> {
    return draftIn(tx, this.#said, this.#sender)
  }

  async dispatch(...args: DispatchArguments<Input>): Promise<Run<Result>> {
    return (await this.#sender.send(payloadOf(args), { ...this.#said, ...args[1] })) as Run<Result>
  }

  async dispatchMany(payloads: readonly Input[], options: DispatchOptions = {}): Promise<readonly Run<Result>[]> {
    return (await this.#sender.sendMany(payloads, { ...this.#said, ...options })) as readonly Run<Result>[]
  }
}

/** A draft in a transaction on a SQLite file, which is synchronous: so are its dispatches. */
export class FileDraft<Input, Result> {
  readonly #said: Said
  readonly #sender: DraftSender

  constructor(said: Said, sender: DraftSender) {
    this.#said = said
    this.#sender = sender
  }

  /** Not before this much time has passed. */
  delay(delay: Duration): FileDraft<Input, Result> {
    return new FileDraft({ ...inOf(this.#said), ...after(delay) }, this.#sender)
  }

  /** Not before this instant; null is at once. */
  at(at: Instant | null): FileDraft<Input, Result> {
    return new FileDraft({ ...inOf(this.#said), ...notBefore(at) }, this.#sender)
  }

  /** Written to the file when it returns. The queue must have been opened before: `await jobs.open()`. */
  dispatch(...args: DispatchArguments<Input>): Run<Result> {
    return this.#sender.sendAtOnce([payloadOf(args)], { ...this.#said, ...args[1] })[0] as Run<Result>
  }

  dispatchMany(payloads: readonly Input[], options: DispatchOptions = {}): readonly Run<Result>[] {
    return this.#sender.sendAtOnce(payloads, { ...this.#said, ...options }) as readonly Run<Result>[]
  }
}

/** What is no transaction is refused here: in the midst of a synchronous one nobody would look at a promise. */
export function draftIn<Input, Result>(
  tx: CallerTransaction | SqlTransaction,
  said: Said,
  sender: DraftSender,
): Draft<Input, Result> | FileDraft<Input, Result> {
  refuseUnknown(tx)
  return isSynchronous(tx) ? new FileDraft({ ...said, in: tx }, sender) : new Draft({ ...said, in: tx }, sender)
}

/** How a job is dispatched that is named last: by its key, its class, its definition or its builder. */
export type DispatchNamed<Named> = (job: Named, payload: unknown, options: DispatchOptions) => Promise<Run>

/** A time, before the job that it is for is known: `jobs.delay('1h').dispatch('send-email', mail)`. */
export class TimeDraft<Named> {
  readonly #said: Said
  readonly #dispatch: DispatchNamed<Named>

  constructor(said: Said, dispatch: DispatchNamed<Named>) {
    this.#said = said
    this.#dispatch = dispatch
  }

  delay(delay: Duration): TimeDraft<Named> {
    return new TimeDraft(after(delay), this.#dispatch)
  }

  at(at: Instant | null): TimeDraft<Named> {
    return new TimeDraft(notBefore(at), this.#dispatch)
  }

  args(payload: unknown): PayloadDraft<Named> {
    return new PayloadDraft(this.#said, writtenArgs(payload), this.#dispatch)
  }

  async dispatch(job: Named, ...args: [payload?: unknown, options?: DispatchOptions]): Promise<Run> {
    return this.#dispatch(job, payloadOf(args), { ...this.#said, ...args[1] })
  }
}

/** A payload and a time, before the job that they are for is known: `jobs.args({ … }).delay('1h').dispatch('send-email')`. */
export class PayloadDraft<Named> {
  readonly #said: Said
  readonly #payload: unknown
  readonly #dispatch: DispatchNamed<Named>

  constructor(said: Said, payload: unknown, dispatch: DispatchNamed<Named>) {
    this.#said = said
    this.#payload = payload
    this.#dispatch = dispatch
  }

  delay(delay: Duration): PayloadDraft<Named> {
    return new PayloadDraft(after(delay), this.#payload, this.#dispatch)
  }

  at(at: Instant | null): PayloadDraft<Named> {
    return new PayloadDraft(notBefore(at), this.#payload, this.#dispatch)
  }

  async dispatch(job: Named, options: DispatchOptions = {}): Promise<Run> {
    return this.#dispatch(job, this.#payload, { ...this.#said, ...options })
  }
}

/** Stands for "no payload was given", which is not the same as a payload of undefined. */
export const noPayload: unique symbol = Symbol('no payload')

export function payloadOf(args: readonly unknown[]): unknown {
  return args.length === 0 ? noPayload : args[0]
}

/** A later word about the time takes the place of an earlier one. */
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
