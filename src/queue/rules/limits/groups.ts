import { Heap, type Slotted } from '../../../core/heap.ts'
import type { StoredJob } from '../jobs/job.ts'

/** The jobs of one group in one lane. */
export interface GroupLane extends Slotted {
  readonly share: GroupShare
  readonly order: number
  readonly jobs: Heap<StoredJob>
  /** Re-sorts it among the waiting groups. */
  readonly reorder: () => void
  turn: number
}

/** The state of a group across all lanes of one key. */
export interface GroupShare extends Slotted {
  readonly key: string
  readonly group: string
  readonly lanes: Set<GroupLane>
  /** How many of its jobs are running. */
  busy: number
  /** Out of tokens until this time; 0 if it is not. */
  heldUntil: number
}

/** All groups with waiting or running jobs. */
export class Groups {
  readonly #shares = new Map<string, GroupShare>()
  readonly #held = new Heap<GroupShare>((a, b) => a.heldUntil < b.heldUntil)

  of(job: string, group: string): GroupShare {
    const key = `${job}\n${group}`
    const known = this.#shares.get(key)
    if (known !== undefined) return known
    const share: GroupShare = { key, group, lanes: new Set(), busy: 0, heldUntil: 0, slot: -1 }
    this.#shares.set(key, share)
    return share
  }

  /** Sets what is known about a group before any of its jobs is added. */
  adopt(job: string, group: string, busy: number): void {
    this.of(job, group).busy = busy
  }

  /** How many of the group's jobs are running. */
  busyOf(job: string, group: string): number {
    return this.#shares.get(`${job}\n${group}`)?.busy ?? 0
  }

  changeBusy(share: GroupShare, change: 1 | -1): void {
    share.busy += change
    for (const lane of share.lanes) lane.reorder()
    this.dropWhenEmpty(share)
  }

  hold(share: GroupShare, until: number): void {
    if (share.heldUntil > 0) this.#held.remove(share)
    share.heldUntil = until
    this.#held.add(share)
    for (const lane of share.lanes) lane.reorder()
  }

  move(byMs: number): void {
    for (const share of this.#held.items) share.heldUntil += byMs
  }

  release(now: number): void {
    for (let share = this.#held.peek(); share !== undefined && share.heldUntil <= now; share = this.#held.peek()) {
      this.#held.remove(share)
      share.heldUntil = 0
      for (const lane of share.lanes) lane.reorder()
      this.dropWhenEmpty(share)
    }
  }

  get nextRelease(): number | undefined {
    return this.#held.peek()?.heldUntil
  }

  dropWhenEmpty(share: GroupShare): void {
    if (share.busy > 0 || share.lanes.size > 0) return
    if (share.heldUntil > 0) this.#held.remove(share)
    share.heldUntil = 0
    this.#shares.delete(share.key)
  }
}
