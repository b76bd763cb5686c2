import type { Clock, Timer } from '../../core/time/clock.ts'
import type { Keep } from '../../definition/definition.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { type FinalState, finalStates } from '../../queue/contract/job-state.ts'
import type { JobRecord, JobStore } from '../../queue/contract/store.ts'

const rowsPerStep = 1_000
const intervalMs = 60_000

/** How long ended jobs are kept. The definition of a job takes precedence. */
export interface Retention {
  readonly all: Keep
  readonly byJob: ReadonlyMap<string, Partial<Keep>>
}

/** Deletes ended jobs whose retention has expired, in small steps. Never touches a job that could still run. */
export async function prune(
  { store }: QueueBackend,
  retention: Retention,
  clock: Clock,
  steps: Steps = { most: Number.POSITIVE_INFINITY },
): Promise<number> {
  if (store === undefined) return 0
  let removed = 0
  for (const state of finalStates) {
    const special = [...retention.byJob].filter(([, keep]) => keep[state] !== undefined)
    for (const [job, keep] of special) {
      removed += await removeBefore(store, { state, job }, clock.now() - (keep[state] as number), steps)
    }
    const others = { state, exceptJobs: special.map(([job]) => job) }
    removed += await removeBefore(store, others, clock.now() - retention.all[state], steps)
  }
  await sweep(store, 'keys', steps)
  return removed
}

/** How many ended jobs `prune` would delete now. Reads all ended jobs, page by page. */
export async function prunable({ store }: QueueBackend, retention: Retention, clock: Clock): Promise<number> {
  let count = 0
  for (const state of store === undefined ? [] : finalStates) {
    const keptMs = (job: string) => retention.byJob.get(job)?.[state] ?? retention.all[state]
    let page: readonly JobRecord[] = []
    do {
      const before = page.at(-1)?.id
      page = (await store?.list({ state, limit: rowsPerStep, ...(before !== undefined && { before }) })) ?? []
      const now = clock.now()
      count += page.filter(({ job, finishedAt }) => finishedAt !== null && finishedAt < now - keptMs(job)).length
    } while (page.length === rowsPerStep)
  }
  return count
}

/** How many steps to make for each kind of row, unless the signal aborts before. */
interface Steps {
  readonly most: number
  readonly signal?: AbortSignal
}

interface Doomed {
  readonly state: FinalState
  readonly job?: string
  readonly exceptJobs?: readonly string[]
}

async function removeBefore(store: JobStore, doomed: Doomed, finishedBefore: number, { most, signal }: Steps): Promise<number> {
  let removed = 0
  for (let step = 0; step < most && !signal?.aborted; step++) {
    const count = await store.remove({ ...doomed, finishedBefore, limit: rowsPerStep })
    removed += count
    if (count < rowsPerStep) break
  }
  return removed
}

async function sweep(store: JobStore, part: 'waits' | 'keys' | 'logs' | 'rollups', { most, signal }: Steps): Promise<void> {
  for (let step = 0; step < most && !signal?.aborted; step++) {
    const { looked } = await store.sweep({ part, limit: rowsPerStep })
    if (looked < rowsPerStep) return
  }
}

/** Prunes once a minute while a worker runs, a bounded amount each time. */
export class Maintenance {
  readonly #prune: () => Promise<unknown>
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  #timer: Timer | undefined
  #running: Promise<unknown> = Promise.resolve()
  readonly #stopping = new AbortController()

  constructor(backend: QueueBackend, retention: () => Retention, clock: Clock, onError: (error: unknown) => void) {
    const { signal } = this.#stopping
    const steps = { most: 50, signal }
    this.#prune = async () => {
      const { store } = backend
      if (store === undefined) return
      // There should be no waits that never end, so this is not urgent.
      await sweep(store, 'waits', steps)
      await prune(backend, retention(), clock, steps)
      await sweep(store, 'logs', { most: 1, signal })
      await sweep(store, 'rollups', { most: 1, signal })
    }
    this.#clock = clock
    this.#onError = onError
  }

  start(): void {
    const { signal } = this.#stopping
    const pass = () => {
      this.#running = this.#prune()
        .catch(this.#onError)
        .then(() => {
          if (!signal.aborted) this.start()
        })
    }
    // A worker or a server keeps the process alive; a dashboard that is mounted in another server must not.
    this.#timer = this.#clock.timer(intervalMs, pass, { unref: true })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#timer?.cancel()
    await this.#running
  }
}
