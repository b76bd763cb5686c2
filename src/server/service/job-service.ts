import { retentionOf } from '../../app/retention.ts'
import type { ServedQueue } from '../../app/served-queue.ts'
import { messageOf } from '../../core/errors.ts'
import { Maintenance } from '../../worker/maintenance.ts'
import { ClaimLimits } from './claim-limits.ts'
import { Claims } from './claims.ts'
import { Company } from './company.ts'
import { Creating } from './creating.ts'
import { JobNames } from './job-names.ts'
import { JobNumbers } from './job-numbers.ts'

/** What all ways into a server share. */
export class JobService {
  readonly queue: ServedQueue
  readonly company = new Company()
  readonly creating: Creating
  readonly claims: Claims
  readonly names: JobNames
  readonly numbers: JobNumbers
  readonly #maintenance: Maintenance

  constructor(queue: ServedQueue, maxRescues: number) {
    const { backend, registry, settings } = queue
    const { clock, logger, keep } = settings
    this.queue = queue
    this.creating = new Creating(queue, this.company)
    this.names = new JobNames(backend.store)
    this.numbers = new JobNumbers(backend.store.numbers)
    this.claims = new Claims({ queue, names: this.names, limits: new ClaimLimits(registry), maxRescues })
    const onError = (thrown: unknown) => logger.error(`The queue could not be tidied: ${messageOf(thrown)}`)
    this.#maintenance = new Maintenance(backend, () => retentionOf(registry, keep), clock, onError)
    this.#maintenance.start()
  }

  /** Nobody waits for a job any more. */
  stopClaiming(): Promise<void> {
    return this.claims.stop()
  }

  async stop(): Promise<void> {
    await this.claims.stop()
    await this.creating.idle()
    await this.#maintenance.stop()
  }
}
