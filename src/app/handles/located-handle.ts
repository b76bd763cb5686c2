import type { JobStore } from '../../queue/contract/store.ts'
import type { RunHandleDeps } from './run-handle.ts'

/** One backend, as far as a job is looked for in it. */
export interface SearchedBackend {
  readonly handles: RunHandleDeps
  /** Undefined where it cannot be looked into. */
  store(): Promise<JobStore | undefined>
}

/** For a job that is known by its id alone: each backend is asked for it, and the first that has it answers from then on. */
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
  // It is nowhere, and the default one says so.
  return (all[0] as SearchedBackend).handles
}

/** As a job, or as a workflow, of which only its jobs are stored. */
async function isStored(id: string, store: JobStore): Promise<boolean> {
  return (await store.get(id)) !== null || (await store.tree(id)).total > 0
}
