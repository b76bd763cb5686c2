import { TreadleError } from '../../core/errors.ts'
import { insideIsolate } from '../../isolation/inside.ts'
import type { WorkerState } from '../../worker/health/worker-state.ts'
import type { RunOptions } from '../../worker/options.ts'
import type { RunReport } from '../../worker/runs/report.ts'
import type { WaitOptions } from '../config/opening.ts'
import type { StopOptions, Working } from './working.ts'

/** The workers of one program: one that runs until it is stopped, and any number of passes. */
export class Workings {
  readonly #create: (wait?: WaitOptions) => Promise<Working>
  #lasting: Lasting | undefined
  readonly #passes = new Set<Promise<Working>>()
  #isUnanswered = false

  /** With wait options, `create` waits for an unreachable database. */
  constructor(create: (wait?: WaitOptions) => Promise<Working>) {
    this.#create = create
  }

  /** Whether the queue did not answer while one of them stopped. */
  get isUnanswered(): boolean {
    return this.#isUnanswered
  }

  /** Waits for an unreachable database. */
  async keep<Report>(work: (working: Working) => Promise<Report>, signal?: AbortSignal): Promise<Report> {
    // In an isolate, a program only provides its handlers and runs nothing by itself.
    const inside = insideIsolate()
    if (inside !== undefined) return inside.begin()
    if (this.#lasting !== undefined) {
      throw new TreadleError('WORKER_RUNNING', 'This instance is already working. Call stop() first, or raise its concurrency.')
    }
    this.#lasting = new Lasting(this.#create, signal)
    try {
      return await this.#watched(await this.#lasting.working, work)
    } finally {
      this.#lasting = undefined
    }
  }

  async pass(options: RunOptions): Promise<RunReport> {
    const pass = this.#create()
    this.#passes.add(pass)
    try {
      return await this.#watched(await pass, (working) => working.pass(options))
    } finally {
      this.#passes.delete(pass)
    }
  }

  async stop(options: StopOptions): Promise<void> {
    this.#lasting?.stopWaiting()
    await this.#each((working) => working.stop(options))
  }

  /** Cancels a running job immediately, without waiting for the next heartbeat. */
  async cancel(id: string): Promise<void> {
    await this.#each((working) => working.cancel(id))
  }

  /** Resolves when everything that their jobs have logged so far is stored. */
  async flushLogs(): Promise<void> {
    await this.#each((working) => working.logs?.flushed())
  }

  async state(): Promise<WorkerState | null> {
    return (await this.#lasting?.begun())?.state ?? null
  }

  async #watched<Report>(working: Working, work: (working: Working) => Promise<Report>): Promise<Report> {
    try {
      return await work(working)
    } finally {
      this.#isUnanswered ||= working.isUnanswered
    }
  }

  /** If a worker could not start, its caller has already received the error. */
  async #each(act: (working: Working) => unknown): Promise<void> {
    const all = [this.#lasting?.working, ...this.#passes].map(async (each) => {
      const working = await each?.catch(() => undefined)
      if (working !== undefined) await act(working)
    })
    await Promise.all(all)
  }
}

/** The long-running worker, starting before its queue is open. */
class Lasting {
  readonly working: Promise<Working>
  readonly #stopping = new AbortController()
  readonly #isWaiting: Promise<undefined>
  #begun: Working | undefined

  constructor(create: (wait: WaitOptions) => Promise<Working>, signal: AbortSignal | undefined) {
    let onWait = () => {}
    this.#isWaiting = new Promise((resolve) => {
      onWait = () => resolve(undefined)
    })
    // Any other value is refused when the options are parsed.
    const stopped = signal instanceof AbortSignal ? AbortSignal.any([this.#stopping.signal, signal]) : this.#stopping.signal
    this.working = create({ signal: stopped, onWait }).then((working) => {
      this.#begun = working
      return working
    })
  }

  /** Undefined while waiting for the database. */
  async begun(): Promise<Working | undefined> {
    return this.#begun ?? Promise.race([this.working.catch(() => undefined), this.#isWaiting])
  }

  stopWaiting(): void {
    this.#stopping.abort()
  }
}
