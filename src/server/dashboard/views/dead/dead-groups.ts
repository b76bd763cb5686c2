import { type Clock, stopwatchOf } from '../../../../core/time/clock.ts'
import type { JobCount } from '../../../../queue/contract/store.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { DeadView } from '../../shared/views/dead.ts'
import { readDeadSample } from './dead-sample.ts'
import { groupsOf } from './error-groups.ts'

/** How long groups are shared while the numbers of dead jobs do not change, and at least when they do. */
const unchangedMs = 15_000
const leastMs = 2_000
/** Reading them takes at most one part in this many of the time. */
const restFactor = 50

export interface RecentDead extends DeadView {
  /** When the jobs that were read died. */
  readonly ends: readonly number[]
}

interface Kept {
  readonly at: number
  readonly counted: string
  readonly value: Promise<RecentDead>
  leastMs: number
}

interface DeadDeps {
  readonly store: Parameters<typeof readDeadSample>[0]
  readonly clock: Clock
  readonly snapshots: { counts(): Promise<readonly JobCount[]> }
}

/** The dead jobs by error, from a sample. Read once for all viewers with the same rights, and again when their numbers change. */
export class DeadGroups {
  readonly #deps: DeadDeps
  readonly #kept = new WeakMap<Viewer['grant'], Kept>()

  constructor(deps: DeadDeps) {
    this.#deps = deps
  }

  async view(viewer: Viewer): Promise<DeadView> {
    const { ends: _, ...view } = await this.recent(viewer)
    return view
  }

  async recent({ grant }: Viewer): Promise<RecentDead> {
    const { store, clock, snapshots } = this.#deps
    const counts = (await snapshots.counts()).filter((count) => count.counts.dead > 0 && grant.sees(count))
    const counted = counts.map(({ queue, job, counts: { dead } }) => `${queue}\n${job}\n${dead}`).join('\n')
    const now = clock.now()
    const known = this.#kept.get(grant)
    if (known !== undefined && now >= known.at && now - known.at < (known.counted === counted ? unchangedMs : known.leastMs))
      return known.value
    const elapsed = stopwatchOf(clock)
    const value = readDeadSample(store, clock, grant, counts).then((sample) => {
      const groups = groupsOf(sample.records, now, sample.weightOf)
      const isWhole = sample.records.length >= sample.total
      return { groups, total: sample.total, read: sample.records.length, isWhole, ends: sample.records.map(diedAt) }
    })
    const kept: Kept = { at: now, counted, value, leastMs }
    this.#kept.set(grant, kept)
    value.then(
      () => {
        kept.leastMs = Math.max(leastMs, Math.min(unchangedMs, restFactor * elapsed()))
      },
      // Do not cache a failure: the next reader tries again.
      () => {
        if (this.#kept.get(grant) === kept) this.#kept.delete(grant)
      },
    )
    return value
  }
}

function diedAt({ finishedAt, createdAt }: { readonly finishedAt: number | null; readonly createdAt: number }): number {
  return finishedAt ?? createdAt
}
