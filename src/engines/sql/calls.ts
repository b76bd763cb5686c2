import { answerOf, type Steps } from '../../core/answer.ts'
import { TreadleError } from '../../core/errors.ts'
import type { Stepped } from './stepped.ts'

type Call = (...args: never[]) => Steps<unknown>

/** Methods, and further objects of them. */
interface Part {
  readonly [name: string]: Call | Part
}

export interface CallHooks {
  /** May have a call wait before it begins. */
  before(): Promise<void> | undefined
  failed(thrown: unknown): void
}

/** The calls that are under way: after closing none is begun, and those that were begun before are still answered. */
export class Calls {
  readonly #refusal: string
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #hooks: CallHooks
  #isClosed = false

  constructor(kind: string, hooks: CallHooks) {
    this.#hooks = hooks
    this.#refusal = `The ${kind} queue was closed. Open a new instance.`
  }

  /** The same object, all of whose methods count as calls and are waited for. */
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

  /** Resolves when the last call was answered. */
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
