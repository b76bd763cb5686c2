import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time/clock.ts'
import { type Identity, parseIdentity } from '../../envelope/identity.ts'

export interface UnsignedJobsDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly emit: (job: Pick<Identity, 'id' | 'job' | 'name' | 'queue'>) => void
}

/** How often to warn, so that a backlog of old jobs does not flood the log. The jobs in between are counted. */
const warnEveryMs = 60_000

/** Reports each job that was accepted without a signature, so that you can see when signing can be enforced. */
export class UnsignedJobs {
  readonly #deps: UnsignedJobsDeps
  #warnAt = Number.NEGATIVE_INFINITY
  #untold = 0
  #lastId: string | undefined

  constructor(deps: UnsignedJobsDeps) {
    this.#deps = deps
  }

  accepted(identity: string): void {
    const parsed = parseIdentity(identity)
    // A repeating job is verified again when it has been done.
    if (parsed === undefined || parsed.id === this.#lastId) return
    const { id, job, name, queue } = parsed
    this.#lastId = id
    this.#deps.emit({ id, job, name, queue })
    this.#warn(`"${job}" (${id}) on queue "${queue}" has no signature, and is accepted because of unsigned: 'accept'`)
  }

  #warn(message: string): void {
    const now = this.#deps.clock.now()
    if (now < this.#warnAt) {
      this.#untold++
      return
    }
    const others = this.#untold === 0 ? '' : `; so were ${this.#untold} others since the last warning`
    this.#warnAt = now + warnEveryMs
    this.#untold = 0
    this.#deps.logger.warn(message + others)
  }
}
