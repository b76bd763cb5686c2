import { Heap } from '../../../core/heap.ts'
import { runsFirst, type StoredJob } from '../jobs/job.ts'
import type { GroupLane, Groups } from './groups.ts'

/**
 * Ready jobs of many groups. The group with the fewest running jobs comes first; ties go to the one served longest ago. Groups
 * without tokens are left out.
 */
export class GroupedJobs {
  readonly #groups: Groups
  readonly #onReorder: () => void
  readonly #byGroup = new Map<string, GroupLane>()
  readonly #waiting = new Heap<GroupLane>(isServedFirst)
  /** The last turn given out. */
  #turn = 0
  #seen = 0

  /** `onReorder` is called when the first job may have changed. */
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

  /** The job that was due first, whichever group's turn it is. */
  oldest(): StoredJob | undefined {
    let oldest: StoredJob | undefined
    for (const { jobs } of this.#byGroup.values()) {
      const first = jobs.peek()
      if (first !== undefined && (oldest === undefined || runsFirst(first, oldest))) oldest = first
    }
    return oldest
  }

  /** A group that just got work is placed after those already waiting, but before those served from now on. */
  add(job: StoredJob): void {
    const group = job.envelope.group as string
    const lane = this.#byGroup.get(group) ?? this.#newLane(job.envelope.job, group)
    lane.jobs.add(job)
  }

  remove(job: StoredJob): void {
    this.takeOut(job)
    this.dropWhenEmpty(job.envelope.group as string)
  }

  /** Keeps the group in its place, even if that was its last job. */
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

  /** The job is about to start: its group's next turn comes after all others. */
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
        // Its old sort order no longer applies, so remove it by its slot and insert it again.
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
