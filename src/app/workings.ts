import { TreadleError } from '../core/errors.ts'
import { insideIsolate } from '../isolation/inside.ts'
import type { RunOptions } from '../worker/options.ts'
import type { RunReport } from '../worker/report.ts'
import type { WorkerState } from '../worker/worker-state.ts'
import type { StopOptions, Working } from './working.ts'

/** The workers of one program: one that goes on until it is told to stop, and any number of passes. */
export class Workings {
  readonly #create: () => Promise<Working>
  #lasting: Promise<Working> | undefined
  readonly #passes = new Set<Promise<Working>>()

  constructor(create: () => Promise<Working>) {
    this.#create = create
  }

  async keep<Report>(work: (working: Working) => Promise<Report>): Promise<Report> {
    // In an isolate a program is asked for its handlers, and runs nothing by itself.
    const inside = insideIsolate()
    if (inside !== undefined) return inside.begin()
    if (this.#lasting !== undefined) {
      throw new TreadleError('WORKER_RUNNING', 'This instance works already. Call stop() first, or raise its concurrency.')
    }
    this.#lasting = this.#create()
    try {
      return await work(await this.#lasting)
    } finally {
      this.#lasting = undefined
    }
  }

  async pass(options: RunOptions): Promise<RunReport> {
    const pass = this.#create()
    this.#passes.add(pass)
    try {
      return await (await pass).pass(options)
    } finally {
      this.#passes.delete(pass)
    }
  }

  async stop(options: StopOptions): Promise<void> {
    await this.#each((working) => working.stop(options))
  }

  /** A job that one of them runs need not wait until the queue tells. */
  async cancel(id: string): Promise<void> {
    await this.#each((working) => working.cancel(id))
  }

  async state(): Promise<WorkerState | null> {
    return (await this.#lasting?.catch(() => undefined))?.state ?? null
  }

  /** One that could not begin has told its caller why. */
  async #each(act: (working: Working) => unknown): Promise<void> {
    const all = [this.#lasting, ...this.#passes].map(async (each) => {
      const working = await each?.catch(() => undefined)
      if (working !== undefined) await act(working)
    })
    await Promise.all(all)
  }
}
