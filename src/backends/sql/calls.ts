import { TreadleError } from '../../core/errors.ts'

type Call = (...args: never[]) => Promise<unknown>

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

  /** The same object, all of whose methods count as calls. */
  of<Whole extends object>(part: Whole): Whole {
    const members = Object.entries(part as Part).map(([name, member]) => {
      return [name, typeof member === 'function' ? (...args: never[]) => this.#run(() => member(...args)) : this.of(member)]
    })
    return Object.fromEntries(members) as Whole
  }

  /** Resolves when the last call was answered. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled([...this.#underWay])
  }

  async #run(work: () => Promise<unknown>): Promise<unknown> {
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
