import type { QueueBackend } from '../backends/contract.ts'
import { finalStates } from '../backends/store.ts'
import type { Clock, Timer } from '../core/clock.ts'
import type { Keep } from '../definition/definition.ts'

const rowsPerStep = 1_000
const intervalMs = 60_000

/** Removes ended jobs that were kept long enough, in small steps. Never touches a job that could still run. */
export async function prune(
  backend: QueueBackend,
  keep: Keep,
  clock: Clock,
  mostSteps = Number.POSITIVE_INFINITY,
): Promise<number> {
  const { store, coordination } = backend
  if (store === undefined) return 0
  let removed = 0
  for (const state of finalStates) {
    const finishedBefore = clock.now() - keep[state]
    for (let step = 0; step < mostSteps; step++) {
      const count = await store.remove({ state, finishedBefore, limit: rowsPerStep })
      removed += count
      if (count < rowsPerStep) break
    }
  }
  await coordination?.sweepOnce(rowsPerStep)
  return removed
}

/** Prunes once a minute while a worker runs, a bounded amount each time. */
export class Maintenance {
  readonly #prune: () => Promise<unknown>
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  #timer: Timer | undefined
  #running: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(backend: QueueBackend, keep: Keep, clock: Clock, onError: (error: unknown) => void) {
    const stepsEachMinute = 50
    this.#prune = () => prune(backend, keep, clock, stepsEachMinute)
    this.#clock = clock
    this.#onError = onError
  }

  start(): void {
    this.#timer = this.#clock.timer(intervalMs, () => {
      this.#running = this.#prune()
        .catch(this.#onError)
        .then(() => {
          if (!this.#stopped) this.start()
        })
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#running
  }
}
