import { TreadleError } from '../../core/errors.ts'
import { randomToken } from '../../core/id.ts'
import { hostName, processId } from '../../core/process/environment.ts'
import type { Clock, Timer } from '../../core/time/clock.ts'
import type { Coordination, HeldLock, LockHolder } from '../../queue/contract/contract.ts'

const lockName = 'scheduler'

/** Lets only one scheduler at a time follow schedules. Not needed for correctness: occurrences are unique anyway. */
export class SchedulerLock {
  readonly #coordination: Coordination
  readonly #holder: LockHolder
  readonly #ttlMs: number
  readonly #clock: Clock
  /** From this time on, another scheduler may hold the lock. */
  #renewAt = Number.NEGATIVE_INFINITY

  constructor(coordination: Coordination, holder: LockHolder, ttlMs: number, clock: Clock) {
    this.#coordination = coordination
    this.#holder = holder
    this.#ttlMs = ttlMs
    this.#clock = clock
  }

  /** Takes or renews the lock. Returns the holder if that is another scheduler, otherwise null. */
  async take(): Promise<HeldLock | null> {
    const askedAt = this.#clock.now()
    const answer = await this.#coordination.lock(lockName, this.#holder, this.#ttlMs)
    this.#renewAt = answer.held ? askedAt + this.#ttlMs / renewalsPerTtl : Number.NEGATIVE_INFINITY
    return answer.held ? null : answer.by
  }

  /** Keeps renewing the lock while the work is in progress. If a renewal fails, the next one tries again. */
  async during<Answer>(work: () => Promise<Answer>, onError: (error: unknown) => void): Promise<Answer> {
    let isOver = false
    let timer: Timer | undefined
    const renewLater = () => {
      timer = this.#clock.timer(this.#ttlMs / renewalsPerTtl, renew, { unref: true })
    }
    const renew = async () => {
      await this.take().catch(onError)
      if (!isOver) renewLater()
    }
    renewLater()
    try {
      return await work()
    } finally {
      isOver = true
      timer?.cancel()
    }
  }

  /** Called before anything is stored. A scheduler that was suspended may have lost the lock and must stop. */
  async refuseLost(): Promise<void> {
    if (this.#clock.now() < this.#renewAt) return
    const by = await this.take()
    if (by !== null) throw lockedError(by)
  }

  async release(): Promise<void> {
    this.#renewAt = Number.NEGATIVE_INFINITY
    await releaseLockOf(this.#holder.owner, this.#coordination)
  }
}

const renewalsPerTtl = 3

/** The current holder of the lock; null if it is free. */
export async function schedulerLockHolder(coordination: Coordination): Promise<HeldLock | null> {
  const asking = { owner: randomToken(), host: hostName(), pid: processId() }
  const answer = await coordination.lock(lockName, asking, shortestTtlMs)
  if (!answer.held) return answer.by
  await releaseLockOf(asking.owner, coordination)
  return null
}

/**
 * TTL for checking who holds the lock, which briefly takes a free lock. It expires soon if the process dies before releasing it.
 */
const shortestTtlMs = 1_000

/** Does nothing if the owner does not hold the lock. */
export async function releaseLockOf(owner: string, coordination: Coordination): Promise<void> {
  await coordination.unlock(lockName, owner)
}

export function lockedError(by: HeldLock): TreadleError {
  return new TreadleError('SCHEDULER_LOCKED', `${lockedText(by)}. Stop that one, wait for it, or run without the lock`)
}

export function lockedText({ host, pid, since, expiresAt }: HeldLock): string {
  return `Another scheduler has the lock: process ${pid} on ${host}, since ${instantText(since)}; it expires at ${instantText(expiresAt)} unless it is renewed`
}

function instantText(ms: number): string {
  return new Date(ms).toISOString()
}
