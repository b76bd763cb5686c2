import { groupName, jobName, pageBefore, pageLimit, queueName } from './job-shapes.ts'
import { duration, flag, input, integer, object, type ValueOf } from './shape.ts'

export const deadFilter = input({}, { queue: queueName, job: jobName, group: groupName, limit: pageLimit, before: pageBefore })
/** Which dead (failed) jobs to list. */
export type DeadFilter = ValueOf<typeof deadFilter>

const all = flag({ description: 'Must be true if no other member selects jobs: all of them.' })
const limit = integer({
  description: 'The maximum number of jobs for this request.',
  minimum: 1,
  maximum: 10_000,
  default: 1_000,
})

export const replayRequest = input({}, { queue: queueName, job: jobName, all, limit })
/** Which dead jobs to put back into the queue. */
export type ReplayRequest = ValueOf<typeof replayRequest>

export const replayed = object({
  replayed: integer({ description: 'The number of jobs that were put back.' }),
  conflicts: integer({ description: 'The number of jobs that were left alone because another job has their unique key.' }),
  more: flag({ description: 'True if there may be more of them: repeat the request.' }),
})
/** How many dead jobs were put back. */
export type Replayed = ValueOf<typeof replayed>

export const purgeRequest = input(
  {},
  {
    queue: queueName,
    job: jobName,
    olderThan: duration({ description: 'Only jobs that failed longer ago than this.' }),
    all,
    limit,
  },
)
/** Which dead jobs to delete. */
export type PurgeRequest = ValueOf<typeof purgeRequest>

export const purged = object({
  deleted: integer(),
  more: flag({ description: 'True if there may be more of them: repeat the request.' }),
})
/** How many dead jobs were deleted. */
export type Purged = ValueOf<typeof purged>
