import { answerOf, type Steps } from '../../core/answer.ts'
import { BackendCalls } from '../../queue/backend/calls.ts'
import type { Stepped } from './stepped.ts'

type Call = (...args: never[]) => Steps<unknown>

/** Methods, and nested objects of methods. */
interface Part {
  readonly [name: string]: Call | Part
}

export interface CallHooks {
  /** May return a promise to delay the call. */
  before(): Promise<void> | undefined
  failed(thrown: unknown): void
}

/** Runs the steps of a queue as its calls. */
export class Calls {
  readonly #calls: BackendCalls
  readonly #hooks: CallHooks

  constructor(kind: string, hooks: CallHooks) {
    this.#calls = new BackendCalls(kind)
    this.#hooks = hooks
  }

  /** The same object, with every method counted as a call and its answer awaited. */
  of<Whole extends object>(part: Stepped<Whole>): Whole {
    return this.#of(part as Part) as Whole
  }

  #of(part: Part): object {
    const members = Object.entries(part).map(([name, member]) => {
      if (typeof member !== 'function') return [name, this.#of(member)]
      return [name, (...args: never[]) => this.run(async () => answerOf(member(...args)))]
    })
    return Object.fromEntries(members)
  }

  /** Resolves when the last call has been answered. */
  close(): Promise<void> {
    return this.#calls.close()
  }

  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await this.#calls.run(() => {
        const ready = this.#hooks.before()
        return ready === undefined ? work() : ready.then(work)
      })
    } catch (thrown) {
      this.#hooks.failed(thrown)
      throw thrown
    }
  }
}
