import type { LoadedJob, LoadedQueue } from '../units/loaded-queue.ts'
import type { Op } from '../units/places.ts'

/** Indexes by time, and what a job says of itself that stands there. */
const indexes = {
  run: { state: 'running', timeOf: ({ head }: LoadedJob) => head.leaseUntil },
  waits: { state: 'blocked', timeOf: ({ place }: LoadedJob) => place?.givesUpAt ?? 0 },
  due: { state: 'scheduled', timeOf: ({ head }: LoadedJob) => head.runAt },
} as const

/**
 * Corrects entries that have come up by their index, but not by what their jobs say, or whose jobs are not there: somebody else has
 * written to one of the two. Left there, they would come up for ever.
 */
export function straysOf(queue: LoadedQueue, index: keyof typeof indexes, ids: readonly string[]): readonly Op[] {
  const { state, timeOf } = indexes[index]
  return ids.flatMap((id): Op[] => {
    const loaded = queue.loaded.get(id)
    if (loaded?.head.state !== state) return [['R', index, id]]
    return timeOf(loaded) > queue.now ? [['A', index, timeOf(loaded), id]] : []
  })
}
