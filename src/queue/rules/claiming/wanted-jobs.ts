import type { LeaseRequest } from '../../contract/contract.ts'
import { keyTest } from './key-pattern.ts'

/** What a request chooses jobs by. */
interface JobPlace {
  readonly queue: string
  readonly job: string
  readonly priority: number
}

/** Returns a test of whether a request is for the jobs of a place. Pauses are checked separately. */
export function wantedTest({
  jobs,
  others,
  queues,
  priority = null,
}: Pick<LeaseRequest, 'jobs' | 'others' | 'queues' | 'priority'>): (place: JobPlace) => boolean {
  const isMeant = meantTest(new Set(jobs.map(({ job }) => job)), others)
  const meantQueues = queues === null ? null : new Set(queues)
  return (place) =>
    isMeant(place.job) &&
    (meantQueues === null || meantQueues.has(place.queue)) &&
    (priority === null || priority === place.priority)
}

/** Returns a test of whether a request means a key: one of its own, or one that its patterns match. */
export function meantTest(names: Pick<ReadonlySet<string>, 'has'>, others: LeaseRequest['others']): (job: string) => boolean {
  const isOther = others == null ? () => false : keyTest(others)
  return (job) => names.has(job) || isOther(job)
}
