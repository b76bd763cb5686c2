import type { Coordination, HeldLock, LockHolder } from '../backends/contract.ts'
import { TreadleError } from '../core/errors.ts'

const lockName = 'scheduler'

/** Lets one scheduler at a time follow schedules. Not needed for correctness: occurrences are unique without it. */
export class SchedulerLock {
  readonly #coordination: Coordination
  readonly #holder: LockHolder
  readonly #ttlMs: number

  constructor(coordination: Coordination, holder: LockHolder, ttlMs: number) {
    this.#coordination = coordination
    this.#holder = holder
    this.#ttlMs = ttlMs
  }

  /** Takes or renews it; gives who has it where that is somebody else. */
  async take(): Promise<HeldLock | null> {
    const answer = await this.#coordination.lock(lockName, this.#holder, this.#ttlMs)
    return answer.held ? null : answer.by
  }

  async release(): Promise<void> {
    await releaseLockOf(this.#holder.owner, this.#coordination)
  }
}

/** Nothing happens where the owner does not have it. */
export async function releaseLockOf(owner: string, coordination: Coordination): Promise<void> {
  await coordination.unlock(lockName, owner)
}

export function lockedError(by: HeldLock): TreadleError {
  return new TreadleError('SCHEDULER_LOCKED', `${lockedText(by)}. Stop that one, wait for it, or run without the lock`)
}

export function lockedText({ host, pid, since, expiresAt }: HeldLock): string {
  return `Another scheduler has the lock: process ${pid} on ${host}, since ${instantText(since)}; it ends at ${instantText(expiresAt)} unless it is renewed`
}

function instantText(ms: number): string {
  return new Date(ms).toISOString()
}
