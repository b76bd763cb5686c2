import type { WorkerRecord } from '../../queue/contract/stores/worker-store.ts'
import type { Grant, Placed } from './grant.ts'

/**
 * The workers that run jobs within the limits of a token. `known` are all jobs that the queue has counts for: a token limited to
 * some queues does not see names of jobs that those queues never had.
 */
export function seenWorkers(workers: readonly WorkerRecord[], grant: Grant, known: readonly Placed[]): readonly WorkerRecord[] {
  if (!grant.isLimited) return workers
  const seen = new Set(known.filter((each) => grant.sees(each)).map(({ job }) => job))
  const isSeen = (job: string) => (grant.queues === null ? grant.seesName(job) : seen.has(job))
  return workers.flatMap((worker) => {
    const queues = worker.queues === null ? grant.queues : worker.queues.filter((queue) => grant.seesQueue(queue))
    const isOfOthers = queues?.length === 0 || !worker.jobs.some((job) => grant.seesName(job))
    return isOfOthers ? [] : [{ ...worker, jobs: worker.jobs.filter(isSeen), queues }]
  })
}
