import { type JobState, jobStates, zeroCounts } from './job-state.ts'
import type { Cancellation, CountOptions, JobCount, JobStore } from './store.ts'

/** Number of jobs in each state, and when the oldest ready job was due. */
export interface Totals {
  readonly counts: Readonly<Record<JobState, number>>
  readonly oldestReadyAt: number | null
}

interface Sums extends Totals {
  readonly counts: Record<JobState, number>
  oldestReadyAt: number | null
}

/** The counts of some queues and jobs as one, and since when the oldest of their ready jobs waits, if that was requested. */
export function summedCounts(counts: readonly JobCount[], { oldest = false }: CountOptions): JobCount {
  const { oldestReadyAt, ...totals } = totalsOf(counts)
  return { queue: '', job: '', ...totals, ...(oldest && { oldestReadyAt }) }
}

/** Whether only the number of all jobs in each state is asked for: every engine has it at hand. */
export function isOverall({ isSum, oldest, queue, job }: CountOptions): boolean {
  return isSum === true && oldest !== true && queue === undefined && job === undefined
}

export function totalsOf(counts: readonly JobCount[]): Totals {
  const sums: Sums = { counts: zeroCounts(), oldestReadyAt: null }
  for (const each of counts) add(sums, each)
  return sums
}

/** The totals of each queue, in a single pass: there may be a queue per customer. */
export function totalsByQueue(counts: readonly JobCount[]): ReadonlyMap<string, Totals> {
  const queues = new Map<string, Sums>()
  for (const each of counts) {
    const sums = queues.get(each.queue) ?? { counts: zeroCounts(), oldestReadyAt: null }
    add(sums, each)
    queues.set(each.queue, sums)
  }
  return queues
}

/** Numbers in names count as numbers: `partner-2` comes before `partner-10`. */
export const byName = new Intl.Collator('en', { numeric: true }).compare

/** The queues with the most unfinished jobs first; `tenant-2` before `tenant-10`. */
export function fullestFirst(names: Iterable<string>, totals: ReadonlyMap<string, Totals>): readonly string[] {
  const unfinished = (name: string) => {
    const counts = totals.get(name)?.counts
    return counts === undefined ? 0 : counts.ready + counts.running + counts.scheduled + counts.blocked
  }
  return [...new Set(names)].toSorted((a, b) => unfinished(b) - unfinished(a) || byName(a, b))
}

function add(sums: Sums, { counts, oldestReadyAt = null }: JobCount): void {
  for (const state of jobStates) sums.counts[state] += counts[state]
  if (oldestReadyAt === null) return
  sums.oldestReadyAt = Math.min(oldestReadyAt, sums.oldestReadyAt ?? oldestReadyAt)
}

/** How many jobs of a workflow are in each state. */
export interface TreeCounts {
  readonly total: number
  readonly counts: Readonly<Record<JobState, number>>
}

export async function treeCounts(store: Pick<JobStore, 'counts'>, root: string): Promise<TreeCounts> {
  const { counts } = totalsOf(await store.counts({ root }))
  return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), counts }
}

/** What became of a single job that was to be cancelled. */
export type CancelOutcome = 'cancelled' | 'requested' | 'ended' | 'missing'

export function cancelOutcome({ cancelled, requested, ended }: Cancellation): CancelOutcome {
  if (cancelled > 0) return 'cancelled'
  if (requested > 0) return 'requested'
  return ended > 0 ? 'ended' : 'missing'
}
