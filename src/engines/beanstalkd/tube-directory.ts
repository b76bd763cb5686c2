import { stopwatch } from '../../core/time/clock.ts'
import type { LeaseRequest } from '../../queue/contract/contract.ts'
import { listTubes } from './commands.ts'
import type { Session } from './session.ts'
import type { TubeNames } from './tube-names.ts'

/** While jobs keep coming, the server is asked no more often than this for queues that have appeared. */
const listingMs = 1_000

type AskedQueues = Pick<LeaseRequest, 'queues' | 'exceptQueues'>

/** Which tubes a claim takes from. */
export class TubeDirectory {
  readonly #names: TubeNames
  #known: ReadonlySet<string> = new Set()
  #sinceListed: (() => number) | undefined

  constructor(names: TubeNames) {
    this.#names = names
  }

  /** This program has put a job there. */
  note(tube: string): void {
    if (!this.#known.has(tube)) this.#known = new Set([...this.#known, tube])
  }

  /** Null is all of them: those that the server has. A claim that comes after others which found jobs need not ask again. */
  async of({ queues, exceptQueues = [] }: AskedQueues, session: Session, isBusy: boolean): Promise<ReadonlySet<string>> {
    if (queues !== null) return new Set(queues.map((queue) => this.#names.tubeOf(queue)))
    if (!isBusy || this.#sinceListed === undefined || this.#sinceListed() > listingMs) {
      const tubes = await listTubes(session)
      this.#known = new Set(tubes.filter((tube) => this.#names.isOurs(tube)))
      this.#sinceListed = stopwatch()
    }
    const except = new Set(exceptQueues.map((queue) => this.#names.tubeOf(queue)))
    return except.size === 0 ? this.#known : new Set([...this.#known].filter((tube) => !except.has(tube)))
  }
}
