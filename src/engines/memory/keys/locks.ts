import type { HeldLock, LockAnswer, LockHolder } from '../../../queue/contract/contract.ts'

/** Named locks that expire. */
export class Locks {
  readonly #held = new Map<string, HeldLock>()

  lock(name: string, { owner, host, pid }: LockHolder, ttlMs: number, now: number): LockAnswer {
    const by = this.#holderOf(name, now)
    if (by !== undefined && by.owner !== owner) return { held: false, by }
    this.#held.set(name, { owner, host, pid, since: by?.since ?? now, expiresAt: now + ttlMs })
    return { held: true }
  }

  unlock(name: string, owner: string, now: number): boolean {
    return this.#holderOf(name, now)?.owner === owner && this.#held.delete(name)
  }

  /** Called when the clock was set. */
  move(byMs: number): void {
    for (const [name, held] of this.#held) {
      this.#held.set(name, { ...held, since: held.since + byMs, expiresAt: held.expiresAt + byMs })
    }
  }

  #holderOf(name: string, now: number): HeldLock | undefined {
    for (const [each, { expiresAt }] of this.#held) if (expiresAt <= now) this.#held.delete(each)
    return this.#held.get(name)
  }
}
