import { type Duration, parseDuration } from '../core/duration.ts'
import { type Instant, parseInstant } from '../core/instant.ts'
import type { DispatchArguments, DispatchOptions } from './dispatch.ts'
import type { Run } from './run.ts'

type Timing = Pick<DispatchOptions, 'delay' | 'at'>

/** What is said for one dispatch only. Each method gives a new draft; the definition is never touched. */
export class Draft<Input, Result> {
  readonly #timing: Timing
  readonly #send: (payload: unknown, options: DispatchOptions) => Promise<Run>

  constructor(timing: Timing, send: (payload: unknown, options: DispatchOptions) => Promise<Run>) {
    this.#timing = timing
    this.#send = send
  }

  /** Not before this much time has passed. */
  delay(delay: Duration): Draft<Input, Result> {
    return new Draft(after(delay), this.#send)
  }

  /** Not before this instant. */
  at(at: Instant): Draft<Input, Result> {
    return new Draft(notBefore(at), this.#send)
  }

  async dispatch(...args: DispatchArguments<Input>): Promise<Run<Result>> {
    return (await this.#send(payloadOf(args), { ...this.#timing, ...args[1] })) as Run<Result>
  }
}

/** A payload and a time, before the job that they are for is known: `jobs.args({ … }).delay('1h').dispatch('send-email')`. */
export class PayloadDraft {
  readonly #timing: Timing
  readonly #dispatch: (job: string, options: DispatchOptions) => Promise<Run>

  constructor(timing: Timing, dispatch: (job: string, options: DispatchOptions) => Promise<Run>) {
    this.#timing = timing
    this.#dispatch = dispatch
  }

  delay(delay: Duration): PayloadDraft {
    return new PayloadDraft(after(delay), this.#dispatch)
  }

  at(at: Instant): PayloadDraft {
    return new PayloadDraft(notBefore(at), this.#dispatch)
  }

  async dispatch(job: string, options: DispatchOptions = {}): Promise<Run> {
    return this.#dispatch(job, { ...this.#timing, ...options })
  }
}

/** Stands for "no payload was given", which is not the same as a payload of undefined. */
export const noPayload: unique symbol = Symbol('no payload')

export function payloadOf(args: readonly unknown[]): unknown {
  return args.length === 0 ? noPayload : args[0]
}

function after(delay: Duration): Timing {
  return { delay: parseDuration(delay, 'delay') }
}

function notBefore(at: Instant): Timing {
  return { at: new Date(parseInstant(at, 'at')) }
}
