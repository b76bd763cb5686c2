import { stopwatch } from '../../../core/time/clock.ts'
import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import { listTubes } from '../connection/commands.ts'
import type { Session } from '../connection/session.ts'
import type { TubeNames } from './tube-names.ts'

/** Minimum time between two listings of the server's tubes while jobs keep coming. */
const listingMs = 1_000

type AskedQueues = Pick<LeaseRequest, 'queues' | 'exceptQueues'>

/** Determines which tubes a claim reserves from. */
export class TubeDirectory {
  readonly #names: TubeNames
  #known: ReadonlySet<string> = new Set()
  #sinceListed: (() => number) | undefined

  constructor(names: TubeNames) {
    this.#names = names
  }

  /** Call when this program has put a job into this tube. */
  note(tube: string): void {
    if (!this.#known.has(tube)) this.#known = new Set([...this.#known, tube])
  }

  /** If `queues` is null, returns all tubes on the server. A claim that follows successful ones may use the last listing. */
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
