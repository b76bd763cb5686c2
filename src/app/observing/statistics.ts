import { messageOf } from '../../core/errors.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { Observers } from '../../telemetry/observer.ts'
import { RollupRecorder } from '../../telemetry/rollups/rollup-recorder.ts'
import type { Settings } from '../config/options.ts'

/** What the workers and servers of an instance do, summed up in the queue that they do it with. */
export class Statistics {
  readonly #program: Observers
  #recorded: { readonly observers: Observers; readonly recorder: RollupRecorder } | undefined

  constructor(program: Observers) {
    this.#program = program
  }

  /** Everybody who observes the program, and whoever writes the statistics of this queue. */
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

  /** Resolves when everything that happened so far is stored, or could not be. */
  async flush(): Promise<void> {
    await this.#recorded?.recorder.flush()
  }
}
