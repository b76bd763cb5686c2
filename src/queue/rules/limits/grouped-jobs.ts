import { Heap } from '../../limits/heap.ts'
import { runsFirst, type StoredJob } from '../jobs/job.ts'
import type { GroupLane, Groups } from './groups.ts'

/**
 * Ready jobs of many groups: always the group with the fewest running jobs comes first, and among those the one that was served
 * longest ago. Groups that are out of tokens are not among them.
 */
export class GroupedJobs {
  readonly #groups: Groups
  readonly #onReorder: () => void
  readonly #byGroup = new Map<string, GroupLane>()
  readonly #waiting = new Heap<GroupLane>(isServedFirst)
  /** Given out so far. */
  #turn = 0
  #seen = 0

  /** `onReorder` is called when another job may have become the first. */
  constructor(groups: Groups, onReorder: () => void) {
    this.#groups = groups
    this.#onReorder = onReorder
  }

  get isEmpty(): boolean {
    return this.#byGroup.size === 0
  }

  /** The group whose turn it is. */
  get first(): GroupLane | undefined {
    return this.#waiting.peek()
  }

  peek(): StoredJob | undefined {
    return this.first?.jobs.peek()
  }

  /** The one that was due first, whosever turn it is. */
  oldest(): StoredJob | undefined {
    let oldest: StoredJob | undefined
    for (const { jobs } of this.#byGroup.values()) {
      const first = jobs.peek()
      if (first !== undefined && (oldest === undefined || runsFirst(first, oldest))) oldest = first
    }
    return oldest
  }

  /** A group that has just got work stands behind those that wait, but before those that are served from now on. */
  add(job: StoredJob): void {
    const group = job.envelope.group as string
    const lane = this.#byGroup.get(group) ?? this.#newLane(job.envelope.job, group)
    lane.jobs.add(job)
  }

  remove(job: StoredJob): void {
    this.takeOut(job)
    this.dropWhenEmpty(job.envelope.group as string)
  }

  /** Leaves the group where it stands, also when that was its last job. */
  takeOut(job: StoredJob): void {
    this.#byGroup.get(job.envelope.group as string)?.jobs.remove(job)
  }

  dropWhenEmpty(group: string): void {
    const lane = this.#byGroup.get(group)
    if (lane === undefined || lane.jobs.size > 0) return
    this.#takeOut(lane)
    this.#byGroup.delete(group)
    lane.share.lanes.delete(lane)
    this.#groups.dropWhenEmpty(lane.share)
  }

  /** The job is about to start: its group's next turn is behind all others. */
  serve(job: StoredJob): void {
    const lane = this.#byGroup.get(job.envelope.group as string) as GroupLane
    this.#takeOut(lane)
    lane.turn = ++this.#turn
    this.#putIn(lane)
  }

  #newLane(job: string, group: string): GroupLane {
    const share = this.#groups.of(job, group)
    const lane: GroupLane = {
      share,
      order: this.#seen++,
      jobs: new Heap(runsFirst),
      turn: this.#turn,
      slot: -1,
      reorder: () => {
        // Where it stood before no longer counts, so it is taken out by its place and put in by its new one.
        this.#takeOut(lane)
        this.#putIn(lane)
        this.#onReorder()
      },
    }
    share.lanes.add(lane)
    this.#byGroup.set(group, lane)
    this.#putIn(lane)
    return lane
  }

  #putIn(lane: GroupLane): void {
    if (lane.share.heldUntil === 0) this.#waiting.add(lane)
  }

  #takeOut(lane: GroupLane): void {
    if (lane.slot < 0) return
    this.#waiting.remove(lane)
    lane.slot = -1
  }
}

function isServedFirst(a: GroupLane, b: GroupLane): boolean {
  if (a.share.busy !== b.share.busy) return a.share.busy < b.share.busy
  return a.turn === b.turn ? a.order < b.order : a.turn < b.turn
}
