import type { HttpDeps } from './deps.ts'
import type { Handlers } from './route.ts'
import { changingJobs } from './routes/changing-jobs.ts'
import { copyingJobs } from './routes/copying-jobs.ts'
import { deadHandlers } from './routes/dead.ts'
import { eventHandlers } from './routes/events.ts'
import { leaseHandlers } from './routes/leases.ts'
import { makingJobs } from './routes/making-jobs.ts'
import { queueHandlers } from './routes/queues.ts'
import { readingJobs } from './routes/reading-jobs.ts'
import { scheduleHandlers } from './routes/schedules.ts'
import { serverHandlers } from './routes/server.ts'

/** The handlers of all operations. */
export function handlersOf(deps: HttpDeps): Handlers {
  return {
    ...makingJobs(deps),
    ...readingJobs(deps),
    ...changingJobs(deps),
    ...copyingJobs(deps),
    ...leaseHandlers(deps),
    ...queueHandlers(deps),
    ...scheduleHandlers(deps),
    ...deadHandlers(deps),
    ...eventHandlers(deps),
    ...serverHandlers(deps),
  }
}
