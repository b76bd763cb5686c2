import { shown } from '../../core/text/shown.ts'
import type { MisfirePolicy } from '../../scheduling/misfire.ts'
import type { Schedule } from '../../scheduling/schedule.ts'

/**
 * What a scheduled run does while an earlier run of the same job is unfinished: start anyway, be skipped, or wait for it to end.
 */
export type Overlap = 'allow' | 'skip' | 'queue'

const accepted: readonly Overlap[] = ['allow', 'skip', 'queue']

/** The settings for scheduled runs; null or an empty list if not set. */
interface Said {
  readonly schedule: Schedule | null
  readonly concurrency: number | null
  readonly overlap: Overlap | null
  readonly misfire: MisfirePolicy | null
  readonly after: readonly unknown[]
  readonly dependsOn: readonly unknown[]
}

/** With misfire `all` the missed runs would skip one another, so by default they queue. */
export function overlapOf(said: Pick<Said, 'schedule' | 'overlap' | 'misfire'>): Overlap {
  return said.overlap ?? (makesUpForAll(said) ? 'queue' : 'skip')
}

/** Queued runs run one at a time. */
export function concurrencyOf(said: Pick<Said, 'schedule' | 'concurrency' | 'overlap' | 'misfire'>): number | null {
  return said.schedule !== null && overlapOf(said) === 'queue' ? 1 : said.concurrency
}

/** Runs of a repeat never overlap under any policy: the next one is not stored until the last one has ended. */
function makesUpForAll({ schedule, misfire }: Pick<Said, 'schedule' | 'misfire'>): boolean {
  return schedule?.kind === 'calendar' && misfire?.kind === 'all'
}

export function overlapProblem(overlap: unknown): string | undefined {
  if (overlap === null || accepted.includes(overlap as Overlap)) return undefined
  return `overlap must be 'allow', 'skip' or 'queue', got ${shown(overlap)}`
}

/** What is said about the runs of a schedule that the job does not have. A value may get its schedule later, so this is checked on use. */
export function unscheduledProblem(said: Said): string | undefined {
  const words = said.schedule === null ? wordsOf(said) : []
  if (words.length === 0) return undefined
  return `${words.join(', ')} applies only to scheduled runs, and this job has no schedule: add one, such as daily()`
}

export function overlapProblems(said: Said): readonly (string | undefined)[] {
  const { concurrency, overlap } = said
  // Another problem says if it is no number: comparing a symbol would throw.
  const isQueueOfMany = typeof concurrency === 'number' && concurrency > 1 && concurrencyOf(said) === 1
  return [
    overlapProblem(overlap),
    overlap === 'skip' && makesUpForAll(said)
      ? "overlap('skip') and misfire('all') contradict each other, since missed runs that are caught up would skip one another: use overlap('queue')"
      : undefined,
    isQueueOfMany
      ? `overlap('queue'), which is the default with misfire('all'), is one run at a time and contradicts concurrency(${concurrency}): use overlap('allow')`
      : undefined,
  ]
}

function wordsOf({ overlap, misfire, after, dependsOn }: Said): readonly string[] {
  return [
    ...(overlap === null ? [] : ['overlap()']),
    ...(misfire === null ? [] : ['misfire()']),
    ...(after.length === 0 ? [] : ['after()']),
    ...(dependsOn.length === 0 ? [] : ['dependsOn()']),
  ]
}
