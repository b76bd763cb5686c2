import { treeCounts } from '../../queue/contract/queue-counts.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import type { RunHandleDeps } from './run-handle.ts'

/** A backend in which to search for a job. */
export interface SearchedBackend {
  readonly handles: RunHandleDeps
  /** Undefined if the backend cannot be searched. */
  store(): Promise<JobStore | undefined>
}

/** For a job known only by its id. The backends are searched in order, and the first that has the job is used from then on. */
export function locatedHandles(id: string, backends: () => Promise<readonly SearchedBackend[]>): RunHandleDeps {
  let found: Promise<RunHandleDeps> | undefined
  const at = () => {
    found ??= find(id, backends).catch((thrown: unknown) => {
      found = undefined
      throw thrown
    })
    return found
  }
  return {
    keys: async () => (await at()).keys(),
    clock: async () => (await at()).clock(),
    queueClock: async () => (await at()).queueClock(),
    recordsFrom: async () => (await at()).recordsFrom(),
    store: async () => (await at()).store(),
    cancel: async (asked) => (await at()).cancel(asked),
    cancelTree: async (asked) => (await at()).cancelTree(asked),
    ended: async (...args) => (await at()).ended(...args),
  }
}

async function find(id: string, backends: () => Promise<readonly SearchedBackend[]>): Promise<RunHandleDeps> {
  const all = await backends()
  for (const backend of all) {
    const store = await backend.store()
    if (store !== undefined && (await isStored(id, store))) return backend.handles
  }
  // No backend has it. Let the default backend report that.
  return (all[0] as SearchedBackend).handles
}

/** Whether the id is that of a job or of a workflow. For a workflow, only its jobs are stored. */
async function isStored(id: string, store: JobStore): Promise<boolean> {
  return (await store.get(id)) !== null || (await treeCounts(store, id)).total > 0
}
