import { cancelJob, cancelTree } from '../../execution/end/cancelling.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import type { Opening } from '../config/opening.ts'
import type { Workings } from '../workers/workings.ts'
import type { Home, RunHandleDeps } from './run-handle.ts'
import { RunWaiters } from './run-waiters.ts'

export interface HandleParts {
  readonly home: Home
  readonly opening: Opening
  readonly workings: Workings
  readonly events: JobEvents
}

/** What the handles of an instance need from it. */
export function handleDeps({ home, opening, workings, events }: HandleParts): RunHandleDeps {
  const waiters = new RunWaiters(events)
  const store = () => opening.store()
  const cancelling = async () => ({ store: await store(), events, keys: (await opening.use()).keys })
  return {
    home,
    clock: async () => (await opening.use()).settings.clock,
    queueClock: async () => {
      const { backend, settings } = await opening.use()
      return queueClock(backend, settings.clock)
    },
    keys: async () => (await opening.use()).keys,
    recordsFrom: async () => (await opening.use()).backend.recordsFrom ?? 'send',
    store,
    cancel: async (id) => {
      const answer = await cancelJob(id, await cancelling())
      if (answer === 'requested') await workings.cancel(id)
      return answer
    },
    cancelTree: async (id) => cancelTree(id, await cancelling()),
    ended: (id, clock, longestMs, signal) => waiters.ended(id, clock, longestMs, signal),
  }
}
