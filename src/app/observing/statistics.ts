import { messageOf } from '../../core/errors.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { Observers } from '../../telemetry/observer.ts'
import { RollupRecorder } from '../../telemetry/rollups/rollup-recorder.ts'
import type { Settings } from '../config/settings.ts'

/** Aggregated statistics about the work of an instance's workers and servers, stored in their queue. */
export class Statistics {
  readonly #program: Observers
  #recorded: { readonly observers: Observers; readonly recorder: RollupRecorder } | undefined

  constructor(program: Observers) {
    this.#program = program
  }

  /** The observers of the program, and the recorder of this queue's statistics. */
  observers({ store }: QueueBackend, { clock, logger }: Settings): Observers {
    if (store?.rollups === undefined) return this.#program
    if (this.#recorded === undefined) {
      const onFailed = (error: unknown) => logger.warn(`the statistics of the queue could not be written: ${messageOf(error)}`)
      const recorder = new RollupRecorder({ store: store.rollups, clock, onFailed })
      const observers = new Observers()
      observers.add(recorder)
      observers.add(this.#program)
      this.#recorded = { observers, recorder }
    }
    return this.#recorded.observers
  }

  /** Resolves when all statistics so far are stored or have failed to be. */
  async flush(): Promise<void> {
    await this.#recorded?.recorder.flush()
  }
}
