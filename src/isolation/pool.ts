import { TreadleError } from '../core/errors.ts'
import type { Timer } from '../core/time/clock.ts'
import type { JobContext } from '../definition/context.ts'
import type { Isolation } from '../definition/policies/isolation.ts'
import { abortGraceMs } from '../execution/attempt/active-run.ts'
import type { IsolatedRun, Isolates } from '../execution/attempt/isolates.ts'
import { Isolate, type IsolateDeps, type IsolateSpec } from './isolate.ts'
import type { IsolateModules } from './wire/messages.ts'

export interface IsolatePoolDeps extends IsolateDeps {
  /** Maximum number of isolates: as many as jobs can run at once. */
  readonly size: number
  /** Where the jobs are defined. Throws if that is unknown. */
  readonly modulesOf: (from: string | null) => IsolateModules
}

/** How long an idle isolate waits for another job. */
const idleMs = 60_000
/** No other worker could begin the job, so there is no deadline. */
const atAnyTime = Number.MAX_SAFE_INTEGER

interface Idle {
  readonly isolate: Isolate
  readonly key: string
  readonly timer: Timer
}

/** Keeps isolates warm, because starting one and loading its modules takes longer than most jobs. */
export class IsolatePool implements Isolates {
  readonly #deps: IsolatePoolDeps
  readonly #all = new Set<Isolate>()
  /** Idle isolates, the most recently used last. */
  #idle: readonly Idle[] = []
  #isClosed = false

  constructor(deps: IsolatePoolDeps) {
    this.#deps = deps
  }

  run(isolation: Isolation, context: JobContext, begin: () => Promise<number> = async () => atAnyTime): IsolatedRun {
    if (this.#isClosed) throw new TreadleError('STOPPED', 'The worker has ended')
    const { kind, memoryBytes, from } = isolation
    const spec = { kind, memoryBytes, modules: this.#deps.modulesOf(from) }
    const key = JSON.stringify(spec)
    const isolate = this.#warm(key) ?? this.#start(spec)
    const result = isolate.run(context, begin).finally(() => this.#rest(isolate, key))
    return { result, kill: () => isolate.kill() }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const ended = [...this.#all].map((isolate) => isolate.ended)
    for (const isolate of this.#all) if (!isolate.isUsable) isolate.kill()
    for (const { isolate } of this.#idle) this.#dismiss(isolate)
    await new Promise<void>((resolve) => {
      // A thread that hangs in a system call cannot be ended. It must not keep the worker from ending.
      const patience = this.#deps.clock.timer(abortGraceMs, resolve)
      void Promise.all(ended).finally(() => {
        patience.cancel()
        resolve()
      })
    })
  }

  #warm(key: string): Isolate | undefined {
    const found = this.#idle.findLast((idle) => idle.key === key)
    if (found !== undefined) this.#wake(found.isolate)
    return found?.isolate
  }

  #start(spec: IsolateSpec): Isolate {
    const [longestIdle] = this.#idle
    if (longestIdle !== undefined && this.#all.size >= this.#deps.size) this.#dismiss(longestIdle.isolate)
    const isolate = new Isolate(spec, this.#deps)
    this.#all.add(isolate)
    void isolate.ended.then(() => {
      this.#all.delete(isolate)
      this.#wake(isolate)
    })
    return isolate
  }

  #rest(isolate: Isolate, key: string): void {
    if (!isolate.isUsable || this.#isClosed) return
    const timer = this.#deps.clock.timer(idleMs, () => this.#dismiss(isolate), { unref: true })
    this.#idle = [...this.#idle, { isolate, key, timer }]
  }

  #dismiss(isolate: Isolate): void {
    this.#wake(isolate)
    void isolate.end()
  }

  /** Removes it from the idle isolates. */
  #wake(isolate: Isolate): void {
    for (const idle of this.#idle) if (idle.isolate === isolate) idle.timer.cancel()
    this.#idle = this.#idle.filter((idle) => idle.isolate !== isolate)
  }
}
