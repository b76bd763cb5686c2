import { totalsOf } from '../../../queue/contract/queue-counts.ts'
import { SeenJobs } from '../../http/seen-jobs.ts'
import type { Viewer } from '../access/viewer.ts'
import type { ViewDeps } from '../deps.ts'
import type { OverviewView, Range } from '../shared/view.ts'
import { groupsOf } from './dead.ts'
import { rowOf } from './jobs/job-row.ts'
import { nextRuns, scheduleRows } from './schedules.ts'
import { verdictOf } from './verdict.ts'
import { workersFor } from './workers.ts'

const hourMs = 3_600_000
const shownRunning = 12
const lookedDead = 100
const shownGroups = 6
const shownJobs = 8

/** The first page, which says whether all is well. */
export class Overview {
  readonly #deps: ViewDeps
  /** By the viewer's grant. */
  readonly #wellSince = new WeakMap<Viewer['grant'], number | null>()

  constructor(deps: ViewDeps) {
    this.#deps = deps
  }

  async view(viewer: Viewer, range: Range): Promise<OverviewView> {
    const { store, clock, snapshots, series, redaction } = this.#deps
    const { grant } = viewer
    const [all, paused, workers, schedules, next] = await Promise.all([
      snapshots.counts(),
      snapshots.paused(),
      workersFor(this.#deps, viewer),
      scheduleRows(this.#deps, viewer),
      nextRuns(this.#deps, viewer),
    ])
    const seen = new SeenJobs(grant, store)
    const counts = all.filter((count) => grant.sees(count))
    const totals = totalsOf(counts)
    const now = clock.now()
    const newest =
      totals.counts.dead === 0 ? [] : (await store.list({ state: 'dead', limit: lookedDead })).filter((each) => grant.sees(each))
    const dead = await Promise.all(newest.map((each) => seen.of(each)))
    const running =
      totals.counts.running === 0
        ? []
        : (await store.list({ state: 'running', limit: shownRunning })).filter((each) => grant.sees(each))
    const recent = await series.recent(5, (pair) => grant.sees(pair))
    const deadInHour = dead.filter(({ finishedAt }) => (finishedAt ?? 0) > now - hourMs).length
    const verdict = verdictOf({ now, counts, paused, workers, schedules, recent, deadInHour })
    const attempts = recent === null ? 0 : recent.done + recent.failed
    return {
      counts: totals.counts,
      workers: workers.length,
      oldestReadyAt: totals.oldestReadyAt,
      verdict,
      wellSince: this.#since(grant, verdict.length === 0, now),
      series: await series.read(range, (pair) => grant.sees(pair)),
      rates: {
        donePerMinute: recent === null ? null : recent.done / recent.minutes,
        failedShare: recent === null || attempts === 0 ? null : recent.failed / attempts,
        wait: recent?.wait ?? null,
        run: recent?.run ?? null,
        deadInHour,
      },
      busiest: (recent?.pairs ?? []).slice(0, shownJobs).map(({ job, queue, perMinute, attempts: tried, failed, run }) => {
        return { job, queue, perMinute, runP95: run?.[1] ?? null, failedShare: failed / Math.max(1, tried) }
      }),
      failing: groupsOf(dead, now).slice(0, shownGroups),
      running: await Promise.all(running.map(async (each) => rowOf(await seen.of(each), redaction))),
      next,
    }
  }

  #since(grant: Viewer['grant'], isWell: boolean, now: number): number | null {
    const since = isWell ? (this.#wellSince.get(grant) ?? now) : null
    this.#wellSince.set(grant, since)
    return since
  }
}
