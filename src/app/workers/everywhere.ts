import { TreadleError } from '../../core/errors.ts'
import { addReport, emptyTally, type RunReport } from '../../worker/runs/report.ts'

export interface EverywhereParts<Report> {
  /** Runs in the default backend; null if it is not wanted there. */
  readonly own: (() => Promise<Report>) | null
  /** Runs in the other backends, each with its own worker and scheduler. */
  readonly others: () => Promise<readonly Promise<Report>[]>
  readonly stop: () => Promise<void>
}

/** Runs in several backends at once, and adds up their reports. If one fails, all are stopped. */
export async function everywhere<Report extends RunReport>({ own, others, stop }: EverywhereParts<Report>): Promise<Report> {
  const working = own === null ? [] : [own()]
  try {
    for (const each of working) each.catch(() => {})
    working.push(...(await others()))
    return combined(await Promise.all(working))
  } catch (thrown) {
    const isRunning = thrown instanceof TreadleError && thrown.code === 'WORKER_RUNNING'
    if (working.length > 1 && !isRunning) await stop()
    await Promise.allSettled(working)
    throw thrown
  }
}

/** The total of several backends' reports. */
function combined<Report extends RunReport>(reports: readonly Report[]): Report {
  const [first, ...rest] = reports as readonly [Report, ...Report[]]
  if (rest.length === 0) return first
  const tally = emptyTally()
  for (const report of reports) addReport(tally, report)
  return { ...first, ...tally }
}
