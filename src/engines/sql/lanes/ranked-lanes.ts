import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import { wantedTest } from '../../../queue/rules/claiming/wanted-jobs.ts'
import type { ClaimedRow, OpenLane } from '../shortcuts.ts'
import type { Lane } from './lanes.ts'

/** A lane that may be claimed from, with its rank. */
export interface RankedLane extends OpenLane {
  readonly of: Lane
}

/** The lanes that this request may claim from. */
export function wantedLanes(request: LeaseRequest, lanes: readonly Lane[]): readonly RankedLane[] {
  const ageingMs = request.ageingMs ?? 0
  return lanes.filter(wantedTest(request)).map((of) => ({
    of,
    lane: of.lane,
    queue: of.queue,
    job: of.job,
    level: ageingMs > 0 ? 0 : -of.priority,
    headStartMs: ageingMs > 0 ? of.priority * ageingMs : 0,
  }))
}

/** Returns a test of whether jobs in a lane may have to wait although they are ready. */
export function limitedTest({ jobs, queueLimits = [] }: LeaseRequest): (lane: Lane) => boolean {
  const limitedJobs = new Set(jobs.filter(({ concurrency, rate }) => concurrency !== null || rate != null).map(({ job }) => job))
  const limitedQueues = new Set(queueLimits.map(({ queue }) => queue))
  return ({ single, grouped, job, queue }) => single === 1 || grouped === 1 || limitedJobs.has(job) || limitedQueues.has(queue)
}

/** Whether one of these lanes may hold jobs that must wait although they are ready. */
export function isLimited(request: LeaseRequest, lanes: readonly RankedLane[]): boolean {
  const isOne = limitedTest(request)
  return lanes.some(({ of }) => isOne(of))
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
