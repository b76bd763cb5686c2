import { retentionOf } from '../../app/workers/retention.ts'
import type { ServedQueue } from '../../app/workers/served-queue.ts'
import { Batcher } from '../../core/batcher.ts'
import { messageOf } from '../../core/errors.ts'
import type { Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import type { CatchUpLimits } from '../../scheduling/repeating/catch-up.ts'
import { observedSettle } from '../../telemetry/observed-calls.ts'
import { Maintenance } from '../../worker/loop/maintenance.ts'
import { ClaimLimits } from './claiming/claim-limits.ts'
import { Claims } from './claiming/claims.ts'
import { Creating } from './creating.ts'
import { GroupCommit } from './group-commit.ts'
import { HeldChildren } from './held-children.ts'
import { JobNames } from './job-names.ts'
import { JobNumbers } from './job-numbers.ts'
import { type ServedExecution, servedExecution } from './served-execution.ts'

const largestSettle = 1_000

/** What all listeners of a server share. */
export class JobService {
  readonly queue: ServedQueue
  readonly groupCommit = new GroupCommit()
  readonly creating: Creating
  readonly claims: Claims
  readonly names: JobNames
  readonly numbers: JobNumbers
  readonly heldChildren: HeldChildren
  /** Dependencies for admitting and ending jobs. */
  readonly execution: ServedExecution
  readonly #settles: Batcher<Settlement, SettleReceipt>
  readonly #maintenance: Maintenance

  constructor(queue: ServedQueue, maxRescues: number, catchUp?: CatchUpLimits) {
    const { backend, registry, settings } = queue
    const { clock, logger, keep } = settings
    this.queue = queue
    this.creating = new Creating(queue, this.groupCommit)
    this.names = new JobNames(backend.store)
    this.numbers = new JobNumbers(backend.store.numbers)
    this.claims = new Claims({ queue, names: this.names, limits: new ClaimLimits(registry), maxRescues })
    // Jobs that several connections end at about the same time are settled together.
    const gather = (pending: () => number) => this.groupCommit.gather(pending)
    this.#settles = new Batcher(observedSettle(backend, queue.observers), largestSettle, gather)
    const settle = (settlement: Settlement) => this.#settles.add(settlement)
    const releaseChildren = (parent: string) => this.heldChildren.releaseOf(parent)
    this.execution = servedExecution(queue, { settle, releaseChildren, ...(catchUp && { catchUp }) })
    this.heldChildren = new HeldChildren(this.execution)
    const onError = (thrown: unknown) => logger.error(`The queue could not be tidied: ${messageOf(thrown)}`)
    this.#maintenance = new Maintenance(backend, () => retentionOf(registry, keep), clock, onError)
    this.#maintenance.start()
  }

  /** Ends all waits for jobs. */
  stopClaiming(): Promise<void> {
    return this.claims.stop()
  }

  /** Resolves when all pending writes are done. */
  async idle(): Promise<void> {
    await this.creating.idle()
    await this.#settles.idle()
  }

  async stop(): Promise<void> {
    await this.claims.stop()
    await this.heldChildren.stop()
    await this.idle()
    await this.#maintenance.stop()
  }
}
