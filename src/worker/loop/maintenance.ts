import type { Clock, Timer } from '../../core/time/clock.ts'
import type { Keep } from '../../definition/definition.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { type FinalState, finalStates } from '../../queue/contract/job-state.ts'
import type { JobStore } from '../../queue/contract/store.ts'

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
  mostSteps = Number.POSITIVE_INFINITY,
): Promise<number> {
  if (store === undefined) return 0
  let removed = 0
  for (const state of finalStates) {
    const special = [...retention.byJob].filter(([, keep]) => keep[state] !== undefined)
    for (const [job, keep] of special) {
      removed += await removeBefore(store, { state, job }, clock.now() - (keep[state] as number), mostSteps)
    }
    const others = { state, exceptJobs: special.map(([job]) => job) }
    removed += await removeBefore(store, others, clock.now() - retention.all[state], mostSteps)
  }
  await sweep(store, 'keys', mostSteps)
  return removed
}

interface Doomed {
  readonly state: FinalState
  readonly job?: string
  readonly exceptJobs?: readonly string[]
}

async function removeBefore(store: JobStore, doomed: Doomed, finishedBefore: number, mostSteps: number): Promise<number> {
  let removed = 0
  for (let step = 0; step < mostSteps; step++) {
    const count = await store.remove({ ...doomed, finishedBefore, limit: rowsPerStep })
    removed += count
    if (count < rowsPerStep) break
  }
  return removed
}

async function sweep(store: JobStore, part: 'waits' | 'keys' | 'logs' | 'rollups', mostSteps: number): Promise<void> {
  for (let step = 0; step < mostSteps; step++) {
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
  #stopped = false

  constructor(backend: QueueBackend, retention: () => Retention, clock: Clock, onError: (error: unknown) => void) {
    const stepsEachMinute = 50
    this.#prune = async () => {
      const { store } = backend
      if (store === undefined) return
      // There should be no waits that never end, so this is not urgent.
      await sweep(store, 'waits', stepsEachMinute)
      await prune(backend, retention(), clock, stepsEachMinute)
      await sweep(store, 'logs', 1)
      await sweep(store, 'rollups', 1)
    }
    this.#clock = clock
    this.#onError = onError
  }

  start(): void {
    const pass = () => {
      this.#running = this.#prune()
        .catch(this.#onError)
        .then(() => {
          if (!this.#stopped) this.start()
        })
    }
    // A worker or a server keeps the process alive; a dashboard that is mounted in another server must not.
    this.#timer = this.#clock.timer(intervalMs, pass, { unref: true })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#running
  }
}
