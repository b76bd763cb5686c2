import type { MovePlan, MoveReport, Refusal } from '../../../moving/index.ts'
import { plural, visible } from '../text.ts'

const shownRefusals = 20
const repeatAfterChanges = 'change or remove the jobs that could not be moved, and run the same command again for what is left'

export function planText({ jobs, schedules, pausedQueues, parcels, workers, cannotHold }: MovePlan): string {
  const states = Object.entries(jobs).filter(([, count]) => count > 0)
  const lines = [
    ...(states.length === 0 ? ['no jobs'] : states.map(([state, count]) => `${count} ${state}`)),
    plural(schedules, 'schedule'),
    ...(pausedQueues.length === 0 ? [] : [`paused queues: ${pausedQueues.join(', ')}`]),
    ...(parcels === 0 ? [] : [`${plural(parcels, 'parcel')} of an earlier move, under way`]),
    ...(workers === 0 ? [] : [`${plural(workers, 'worker')} on the source: stop them, or use --live`]),
    ...cannotHold.map((what) => `the target cannot hold ${what}`),
  ]
  return lines.map(visible).join('\n')
}

export function reportText({
  moved,
  schedules,
  refused,
  refusedJobs,
  unreadable,
  left,
  isComplete,
  elapsedMs,
}: MoveReport): string {
  const hasLeftOut = refused.length > 0 || unreadable.length > 0
  const leftJobs = Object.entries(left).filter(([, count]) => count > 0)
  const lines = [
    `moved ${plural(moved, 'job')} and ${plural(schedules, 'schedule')} in ${(elapsedMs / 1_000).toFixed(1)} s`,
    ...refusalLines(refused, refusedJobs),
    ...(unreadable.length === 0
      ? []
      : [`${plural(unreadable.length, 'job')} could not be read and stayed: ${unreadable.slice(0, shownRefusals).join(', ')}`]),
    ...(leftJobs.length === 0 ? [] : [`left on the source: ${leftJobs.map(([state, count]) => `${count} ${state}`).join(', ')}`]),
    ...(isComplete ? [] : [hasLeftOut ? repeatAfterChanges : 'run the same command again to continue']),
  ]
  return lines.map(visible).join('\n')
}

export function refusalLines(refused: readonly (Refusal & { readonly line?: number })[], jobs: number): readonly string[] {
  if (refused.length === 0) return []
  const shown = refused.slice(0, shownRefusals).map(({ id, jobs: count, why, line }) => {
    const where = line === undefined ? '' : `line ${line}: `
    return `  ${where}${id}${count > 1 ? ` and ${count - 1} more of its workflow` : ''}: ${why}`
  })
  const rest = refused.length > shownRefusals ? ['  …'] : []
  return [`the target has no place for ${plural(jobs, 'job')}:`, ...shown, ...rest]
}
