import { TreadleError } from '../../core/errors.ts'
import type { JobNumbers as StoredNumbers } from '../../queue/contract/store.ts'

const firstBlock = 100
const largestBlock = 10_000
const mostKnown = 100_000

/** Assigns numbers to new jobs, reserving them from the queue in blocks, and caches which job has which number. */
export class JobNumbers {
  readonly #known: StoredNumbers | undefined
  readonly #ids = new Map<number, string>()
  #next = 0
  #end = 0
  #block = firstBlock
  #reserving: Promise<void> | undefined

  /** Without `stored`, every use of numbers is refused. */
  constructor(stored: StoredNumbers | undefined) {
    this.#known = stored
  }

  async next(): Promise<number> {
    while (this.#next === this.#end) {
      this.#reserving ??= this.#reserve().finally(() => {
        this.#reserving = undefined
      })
      await this.#reserving
    }
    return this.#next++
  }

  /** Gives up the reserved numbers, because others have them: somebody has set the counter back. */
  forgetReserved(): void {
    this.#next = this.#end
  }

  /** Remembers the number of a job. */
  note(number: number, id: string): void {
    if (this.#ids.size >= mostKnown) this.#ids.clear()
    this.#ids.set(number, id)
  }

  /** The id of the job with this number; null if there is none. */
  async idOf(number: number): Promise<string | null> {
    // No job has such a number, and a database may have no such integer.
    if (!Number.isSafeInteger(number)) return null
    const known = this.#ids.get(number)
    if (known !== undefined) return known
    const [id = null] = await this.#stored.find([number])
    if (id !== null) this.note(number, id)
    return id
  }

  /** The number of a job, which is assigned if it has none. Null if the job does not exist. */
  async of(id: string): Promise<number | null> {
    const [number = null] = await this.#stored.assign([id])
    if (number !== null) this.note(number, id)
    return number
  }

  /** The ids of the jobs with these numbers; null where there is none. */
  idsOf(numbers: readonly number[]): Promise<readonly (string | null)[]> {
    return this.#stored.find(numbers)
  }

  /** The numbers of these jobs, which are assigned to those that have none. */
  allOf(ids: readonly string[]): Promise<readonly (number | null)[]> {
    return this.#stored.assign(ids)
  }

  get #stored(): StoredNumbers {
    if (this.#known === undefined) throw new TreadleError('CAPABILITY_MISSING', 'The engine of this queue cannot number jobs')
    return this.#known
  }

  async #reserve(): Promise<void> {
    const count = this.#block
    const first = await this.#stored.reserve(count)
    this.#block = Math.min(count * 10, largestBlock)
    this.#next = first
    this.#end = first + count
  }
}
