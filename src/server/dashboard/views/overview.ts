import { totalsOf } from '../../../queue/contract/queue-counts.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import { SeenJobs } from '../../http/seen-jobs.ts'
import type { Viewer } from '../access/viewer.ts'
import type { ViewDeps } from '../deps.ts'
import { mostDead } from '../live/snapshots.ts'
import type { ErrorGroup, OverviewView, Range } from '../shared/view.ts'
import { groupsOf } from './dead.ts'
import { rowOf } from './jobs/job-row.ts'
import { nextRuns, scheduleRows } from './schedules.ts'
import { verdictOf } from './verdict.ts'
import { workersFor } from './workers.ts'

const hourMs = 3_600_000
const shownGroups = 6
const shownJobs = 8

/** The first page, which says whether all is well. */
export class Overview {
  readonly #deps: ViewDeps
  /** By the viewer's grant. */
  readonly #wellSince = new WeakMap<Viewer['grant'], number | null>()

  readonly #dead = new WeakMap<Viewer['grant'], { readonly from: readonly JobRecord[]; readonly seen: readonly JobRecord[] }>()
  readonly #groups = new WeakMap<readonly JobRecord[], readonly ErrorGroup[]>()

  constructor(deps: ViewDeps) {
    this.#deps = deps
  }

  async view(viewer: Viewer, range: Range): Promise<OverviewView> {
    const { store, clock, snapshots, series, redaction } = this.#deps
    const { grant } = viewer
    const [all, paused, workers, schedules] = await Promise.all([
      snapshots.counts(),
      snapshots.paused(),
      workersFor(this.#deps, viewer),
      scheduleRows(this.#deps, viewer),
    ])
    const seen = new SeenJobs(grant, store)
    const counts = all.filter((count) => grant.sees(count))
    const totals = totalsOf(counts)
    const now = clock.now()
    const dead = totals.counts.dead === 0 ? [] : await this.#newestDead(grant, seen)
    const running = totals.counts.running === 0 ? [] : (await snapshots.running()).filter((each) => grant.sees(each))
    const recent = await series.recent(5, grant)
    const deadInHour = await this.#deadInHour(dead, totals.counts.dead, grant)
    const verdict = verdictOf({ now, counts, paused, workers, schedules, recent, deadInHour })
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
        deadInHour,
      },
      busiest: (recent?.pairs ?? []).slice(0, shownJobs).map(({ job, queue, perMinute, attempts: tried, failed, run }) => {
        return { job, queue, perMinute, runP95: run?.[1] ?? null, failedShare: failed / Math.max(1, tried) }
      }),
      failing: this.#failing(dead, now),
      running: await Promise.all(running.map(async (each) => rowOf(await seen.of(each), redaction))),
      next: nextRuns(schedules),
    }
  }

  /** Of those that are still dead. Where more died than are read, the statistics say how many. */
  async #deadInHour(dead: readonly JobRecord[], all: number, grant: Viewer['grant']): Promise<number> {
    const { clock, series } = this.#deps
    const since = clock.now() - hourMs
    const read = dead.filter(({ finishedAt }) => (finishedAt ?? 0) > since).length
    const { points } = read < mostDead ? { points: [] } : await series.read('1h', grant)
    return Math.min(
      all,
      Math.max(
        read,
        points.reduce((sum, point) => sum + point.dead, 0),
      ),
    )
  }

  /** The same array until they are read again. */
  async #newestDead(grant: Viewer['grant'], seen: SeenJobs): Promise<readonly JobRecord[]> {
    const records = await this.#deps.snapshots.dead()
    const known = this.#dead.get(grant)
    if (known?.from === records) return known.seen
    const shown = await Promise.all(records.filter((each) => grant.sees(each)).map((each) => seen.of(each)))
    this.#dead.set(grant, { from: records, seen: shown })
    return shown
  }

  #failing(dead: readonly JobRecord[], now: number): readonly ErrorGroup[] {
    const groups = this.#groups.get(dead) ?? groupsOf(dead, now).slice(0, shownGroups)
    this.#groups.set(dead, groups)
    return groups
  }

  #since(grant: Viewer['grant'], isWell: boolean, now: number): number | null {
    const since = isWell ? (this.#wellSince.get(grant) ?? now) : null
    this.#wellSince.set(grant, since)
    return since
  }
}
