import { type JobState, jobStates } from '../../queue/contract/job-state.ts'
import { type Totals, totalsByQueue } from '../../queue/contract/queue-counts.ts'
import type { JobCount } from '../../queue/contract/store.ts'
import type { BreakerState, WorkerRecord } from '../../queue/contract/stores/worker-store.ts'
import type { ObservedJob } from '../observer.ts'
import { BoundedNames } from './bounded-labels.ts'
import type { Family, Sample } from './exposition.ts'

/** What was read from one queue's database. */
export interface QueueGauges {
  /** The name of the backend within the program. */
  readonly backend: string
  /** False if it could not be read, in which case nothing else is known. */
  readonly isUp: boolean
  readonly counts: readonly JobCount[]
  readonly paused: readonly string[]
  readonly workers: readonly WorkerRecord[]
  readonly now: number
}

/** The current state of this process's worker. */
export interface WorkerGauges {
  readonly backend: string
  readonly running: number
  readonly concurrency: number
  readonly allowed: number
  readonly breaker: BreakerState
}

/** Maximum number of queues with their own series. */
const mostQueues = 100
/** The counts of other ended jobs go down when retention deletes them, so they are not queue depth. */
const waitingStates: readonly JobState[] = ['ready', 'scheduled', 'blocked', 'running', 'dead']
const breakerStates: readonly BreakerState[] = ['closed', 'half-open', 'open']

export function queueFamilies(queues: readonly QueueGauges[], sees: ((job: ObservedJob) => boolean) | null): readonly Family[] {
  const depth: Sample[] = []
  const oldest: Sample[] = []
  const paused: Sample[] = []
  for (const { backend, counts, now, paused: names } of queues) {
    const seen = sees === null ? counts : counts.filter(sees)
    for (const [queue, totals] of bounded(totalsByQueue(seen))) {
      const labels = { backend, queue }
      for (const state of waitingStates) depth.push({ labels: { ...labels, state }, value: totals.counts[state] })
      oldest.push({ labels, value: totals.oldestReadyAt === null ? 0 : Math.max(0, now - totals.oldestReadyAt) / 1_000 })
      paused.push({ labels, value: names.includes(queue) ? 1 : 0 })
    }
  }
  const living = queues.filter(({ isUp }) => isUp).map(({ backend, workers }) => ({ labels: { backend }, value: workers.length }))
  const up = queues.map(({ backend, isUp }) => ({ labels: { backend }, value: isUp ? 1 : 0 }))
  return [
    gauge('treadle_queue_up', 'Whether the last read of the queue succeeded.', up),
    gauge('treadle_queue_jobs', 'Jobs in a queue, by state, from kept counters.', depth),
    gauge('treadle_queue_oldest_seconds', 'How long the oldest ready job of a queue has waited.', oldest),
    gauge('treadle_queue_paused', 'Whether a queue is paused.', paused),
    ...(sees === null ? [gauge('treadle_workers', 'Live workers.', living)] : []),
  ]
}

export function workerFamilies(workers: readonly WorkerGauges[]): readonly Family[] {
  const each = (value: (worker: WorkerGauges) => number): readonly Sample[] =>
    workers.map((worker) => ({ labels: { backend: worker.backend }, value: value(worker) }))
  const breaker = workers.flatMap((worker) =>
    breakerStates.map((state) => ({ labels: { backend: worker.backend, state }, value: worker.breaker === state ? 1 : 0 })),
  )
  return [
    gauge(
      'treadle_worker_running_jobs',
      'Jobs that the worker of this process is running.',
      each(({ running }) => running),
    ),
    gauge(
      'treadle_worker_concurrency',
      'Its maximum number of concurrent jobs.',
      each(({ concurrency }) => concurrency),
    ),
    gauge(
      'treadle_worker_allowed_jobs',
      'Its maximum number of concurrent jobs at the current load.',
      each(({ allowed }) => allowed),
    ),
    gauge('treadle_breaker_state', 'The state of its circuit breaker: 1 for the one that it is in.', breaker),
  ]
}

/** The fullest queues have their own entry; the others share one. */
function bounded(byQueue: ReadonlyMap<string, Totals>): ReadonlyMap<string, Totals> {
  if (byQueue.size <= mostQueues) return byQueue
  const names = new BoundedNames(mostQueues - 1)
  const fullest = [...byQueue].toSorted(([, a], [, b]) => depthOf(b) - depthOf(a))
  const sums = new Map<string, Totals>()
  for (const [queue, totals] of fullest) {
    const name = names.of(queue)
    const before = sums.get(name)
    sums.set(name, before === undefined ? totals : sumOf(before, totals))
  }
  return sums
}

function depthOf({ counts }: Totals): number {
  return waitingStates.reduce((sum, state) => sum + counts[state], 0)
}

function sumOf(a: Totals, b: Totals): Totals {
  const counts = Object.fromEntries(jobStates.map((state) => [state, a.counts[state] + b.counts[state]])) as Totals['counts']
  const times = [a.oldestReadyAt, b.oldestReadyAt].filter((at) => at !== null)
  return { counts, oldestReadyAt: times.length === 0 ? null : Math.min(...times) }
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'gauge', samples }
}
