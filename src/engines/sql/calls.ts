import { answerOf, type Steps } from '../../core/answer.ts'
import { TreadleError } from '../../core/errors.ts'
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

/** The calls in progress. After closing, no new call starts, but calls that started earlier still get their answers. */
export class Calls {
  readonly #refusal: string
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #hooks: CallHooks
  #isClosed = false

  constructor(kind: string, hooks: CallHooks) {
    this.#hooks = hooks
    this.#refusal = `The ${kind} queue was closed. Open a new instance.`
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
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled([...this.#underWay])
  }

  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#isClosed) throw new TreadleError('BACKEND_CLOSED', this.#refusal)
    const ready = this.#hooks.before()
    const call = ready === undefined ? work() : ready.then(work)
    this.#underWay.add(call)
    try {
      return await call
    } catch (thrown) {
      this.#hooks.failed(thrown)
      throw thrown
    } finally {
      this.#underWay.delete(call)
    }
  }
}
