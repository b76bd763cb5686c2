import { totalsOf } from '../../../queue/contract/queue-counts.ts'
import { SeenJobs } from '../../http/seen-jobs.ts'
import type { Viewer } from '../access/viewer.ts'
import type { ViewDeps } from '../deps.ts'
import type { OverviewView, VerdictLine } from '../shared/views/overview.ts'
import type { Range } from '../shared/views/series.ts'
import type { DeadGroups } from './dead/dead-groups.ts'
import { deadInHour } from './dead/dead-in-hour.ts'
import { rowOf } from './jobs/job-row.ts'
import { nextRuns, scheduleRows } from './schedules.ts'
import { verdictOf } from './verdict.ts'
import { workersFor } from './workers.ts'

const shownGroups = 6
const shownJobs = 8

/** The first page, which says whether all is well. */
export class Overview {
  readonly #deps: ViewDeps
  /** By the viewer's grant. */
  readonly #wellSince = new WeakMap<Viewer['grant'], number | null>()

  readonly #dead: DeadGroups

  constructor(deps: ViewDeps, dead: DeadGroups) {
    this.#deps = deps
    this.#dead = dead
  }

  async view(viewer: Viewer, range: Range): Promise<OverviewView> {
    const { store, snapshots, series, redaction } = this.#deps
    const { grant } = viewer
    const { now, totals, workers, schedules, dead, recent, inHour, verdict } = await this.#judged(viewer)
    const seen = new SeenJobs(grant, store)
    const running = totals.counts.running === 0 ? [] : (await snapshots.running()).filter((each) => grant.sees(each))
    const attempts = recent === null ? 0 : recent.done + recent.failed
    return {
      counts: totals.counts,
      workers: workers.length,
      oldestReadyAt: totals.oldestReadyAt,
      verdict,
      wellSince: this.#since(grant, verdict.length === 0, now),
      series: await series.read(range, grant),
      rates: {
        donePerMinute: recent === null ? null : recent.done / recent.minutes,
        failedShare: recent === null || attempts === 0 ? null : recent.failed / attempts,
        wait: recent?.wait ?? null,
        run: recent?.run ?? null,
        deadInHour: inHour,
      },
      busiest: (recent?.pairs ?? []).slice(0, shownJobs).map(({ job, queue, perMinute, attempts: tried, failed, run }) => {
        return { job, queue, perMinute, runP95: run?.[1] ?? null, failedShare: failed / Math.max(1, tried) }
      }),
      failing: dead.groups.slice(0, shownGroups),
      running: await Promise.all(running.map(async (each) => rowOf(await seen.of(each), redaction))),
      next: nextRuns(schedules),
    }
  }

  /** What is wrong, for the pages that show no more of the overview than that. */
  async verdict(viewer: Viewer): Promise<readonly VerdictLine[]> {
    return (await this.#judged(viewer)).verdict
  }

  async #judged(viewer: Viewer) {
    const { clock, snapshots, series } = this.#deps
    const { grant } = viewer
    const [all, paused, pausedJobs, workers, schedules] = await Promise.all([
      snapshots.counts(),
      snapshots.paused(),
      snapshots.pausedJobs(),
      workersFor(this.#deps, viewer),
      scheduleRows(this.#deps, viewer),
    ])
    const counts = all.filter((count) => grant.sees(count))
    const now = clock.now()
    const dead = await this.#dead.recent(viewer)
    const recent = await series.recent(5, grant)
    const inHour = await deadInHour(dead, now, async () => (await series.read('1h', grant)).points)
    const verdict = verdictOf({ now, counts, paused, pausedJobs, workers, schedules, recent, deadInHour: inHour })
    return { now, totals: totalsOf(counts), workers, schedules, dead, recent, inHour, verdict }
  }

  #since(grant: Viewer['grant'], isWell: boolean, now: number): number | null {
    const since = isWell ? (this.#wellSince.get(grant) ?? now) : null
    this.#wellSince.set(grant, since)
    return since
  }
}
