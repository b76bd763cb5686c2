import { totalsOf } from '../queue/contract/queue-counts.ts'
import type { JobCount, JobStore } from '../queue/contract/store.ts'
import type { RollupCell } from '../queue/contract/stores/rollup-store.ts'
import type { WorkerRecord } from '../queue/contract/stores/worker-store.ts'
import type { VerdictLine } from '../server/dashboard/shared/views/overview.ts'
import { deadInHour, hourMs } from '../server/dashboard/views/dead/dead-in-hour.ts'
import { type Facts, verdictOf } from '../server/dashboard/views/verdict.ts'
import type { ScheduleStatus } from './schedules/schedules.ts'

/** The state of a queue, read at one moment. */
export interface Looked {
  readonly now: number
  readonly counts: readonly JobCount[]
  /** The queues and the jobs that are paused, by name. */
  readonly paused: readonly string[]
  readonly pausedJobs: readonly string[]
  readonly workers: readonly WorkerRecord[]
  readonly schedules: readonly ScheduleStatus[]
  readonly deadInHour: number
}

export interface Health {
  /** The worst level among the findings. */
  readonly status: 'well' | 'warning' | 'problem'
  readonly findings: readonly Pick<VerdictLine, 'level' | 'text'>[]
  readonly workers: number
  readonly ready: number
  readonly running: number
  readonly dead: number
  readonly oldestReadyAt: string | null
}

/** Maximum number of dead jobs that are read. */
const lookedDead = 100

/** Reads the state once, from the maintained counters and a few rows. */
export async function lookAt(
  store: JobStore,
  now: number,
  schedules: (now: number) => Promise<readonly ScheduleStatus[]>,
): Promise<Looked> {
  const [counts, paused, workers, followed] = await Promise.all([
    store.counts({ oldest: true }),
    store.paused(),
    store.workers.list(),
    schedules(now),
  ])
  const total = totalsOf(counts).counts.dead
  const dead = total === 0 ? [] : await store.list({ state: 'dead', limit: lookedDead })
  const sample = { ends: dead.map(({ finishedAt }) => finishedAt ?? 0), total, isWhole: dead.length < lookedDead }
  const { queues, jobs } = paused
  return {
    now,
    counts,
    paused: queues,
    pausedJobs: jobs,
    workers,
    schedules: followed,
    deadInHour: await deadInHour(sample, now, () => endsInHour(store, now)),
  }
}

async function endsInHour({ rollups }: JobStore, now: number): Promise<readonly RollupCell[]> {
  const buckets = (await rollups?.read(now - hourMs)) ?? []
  return buckets.filter(({ at }) => at > now - hourMs).flatMap(({ cells }) => cells)
}

/** Uses the same rules as the first line of the dashboard. */
export function healthOf(looked: Looked, recent: Facts['recent'] = null): Health {
  const { counts, oldestReadyAt } = totalsOf(looked.counts)
  const findings = verdictOf({ ...looked, ...rowsOf(looked), recent }).map(({ level, text }) => ({ level, text }))
  const isBad = findings.some(({ level }) => level === 'problem')
  return {
    status: isBad ? 'problem' : findings.length > 0 ? 'warning' : 'well',
    findings,
    workers: looked.workers.length,
    ready: counts.ready,
    running: counts.running,
    dead: counts.dead,
    oldestReadyAt: oldestReadyAt === null ? null : new Date(oldestReadyAt).toISOString(),
  }
}

/** Schedules that no scheduler follows count as disabled. */
const rowState: Readonly<Record<ScheduleStatus['state'], Facts['schedules'][number]['state']>> = {
  active: 'active',
  new: 'new',
  paused: 'paused',
  'not in code': 'not in code',
  'unknown job': 'not in code',
  disabled: 'disabled',
  'other environment': 'disabled',
  ended: 'disabled',
  rejected: 'disabled',
}

function rowsOf({ workers, schedules }: Looked): Pick<Facts, 'workers' | 'schedules'> {
  return {
    workers: workers.map(({ scheduler, ...worker }) => ({
      ...worker,
      follows: scheduler !== null,
      lastTickAt: scheduler?.lastTickAt ?? null,
    })),
    schedules: schedules.map(({ schedule, state, nextAt }) => ({
      name: schedule,
      state: rowState[state],
      nextAt: nextAt === null ? null : Date.parse(nextAt),
    })),
  }
}
