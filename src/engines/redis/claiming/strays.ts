import type { LoadedJob, LoadedQueue } from '../units/loaded-queue.ts'
import type { Op } from '../units/places.ts'

/** Indexes by time, with the state and time that a job in each must have. */
const indexes = {
  run: { state: 'running', timeOf: ({ head }: LoadedJob) => head.leaseUntil },
  waits: { state: 'blocked', timeOf: ({ place }: LoadedJob) => place?.givesUpAt ?? 0 },
  due: { state: 'scheduled', timeOf: ({ head }: LoadedJob) => head.runAt },
} as const

/**
 * Corrects entries that are due according to the index but not according to their jobs, or whose jobs do not exist: something
 * else has written to one of the two. Uncorrected, they would come up forever.
 */
export function straysOf(queue: LoadedQueue, index: keyof typeof indexes, ids: readonly string[]): readonly Op[] {
  const { state, timeOf } = indexes[index]
  return ids.flatMap((id): Op[] => {
    const loaded = queue.loaded.get(id)
    if (loaded?.head.state !== state) return [['R', index, id]]
    return timeOf(loaded) > queue.now ? [['A', index, timeOf(loaded), id]] : []
  })
}
