import type { LeaseRequest } from '../contract.ts'
import type { Lane } from './lanes.ts'
import type { ClaimedRow, OpenLane } from './shortcuts.ts'

/** A lane that may be claimed from, with its place in the order. */
export interface RankedLane extends OpenLane {
  readonly of: Lane
}

/** Those of these lanes that a request may claim from. */
export function wantedLanes(request: LeaseRequest, lanes: readonly Lane[]): readonly RankedLane[] {
  const jobs = new Set(request.jobs.map(({ job }) => job))
  const queues = request.queues === null ? null : new Set(request.queues)
  const wanted = request.priority ?? null
  const ageingMs = request.ageingMs ?? 0
  return lanes
    .filter(({ job, queue }) => jobs.has(job) && (queues === null || queues.has(queue)))
    .filter(({ priority }) => wanted === null || wanted === priority)
    .map((of) => ({
      of,
      lane: of.lane,
      queue: of.queue,
      level: ageingMs > 0 ? 0 : -of.priority,
      headStartMs: ageingMs > 0 ? of.priority * ageingMs : 0,
    }))
}

/** Whether one of these lanes may hold jobs that must wait although they are ready. */
export function isLimited({ jobs, queueLimits = [] }: LeaseRequest, lanes: readonly RankedLane[]): boolean {
  const limitedJobs = new Set(jobs.filter(({ concurrency, rate }) => concurrency !== null || rate != null).map(({ job }) => job))
  const limitedQueues = new Set(queueLimits.map(({ queue }) => queue))
  return lanes.some(({ of }) => {
    return of.single === 1 || of.grouped === 1 || limitedJobs.has(of.job) || limitedQueues.has(of.queue)
  })
}

export function inOrder(rows: readonly ClaimedRow[], lanes: readonly RankedLane[]): readonly ClaimedRow[] {
  const byNumber = new Map(lanes.map((lane) => [lane.lane, lane]))
  const rank = ({ lane, run_at }: ClaimedRow) => {
    const { level = 0, headStartMs = 0 } = byNumber.get(lane) ?? {}
    return [level, run_at - headStartMs] as const
  }
  return [...rows].sort((a, b) => {
    const [[aLevel, aTime], [bLevel, bTime]] = [rank(a), rank(b)]
    return aLevel - bLevel || aTime - bTime || (a.id < b.id ? -1 : 1)
  })
}
