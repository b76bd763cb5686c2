import { isFinal } from '../backends/job-state.ts'
import type { JobRecord, JobStore, TreeCancellation } from '../backends/store.ts'
import type { Clock } from '../core/clock.ts'
import { TreadleError } from '../core/errors.ts'
import { type Instant, parseInstant } from '../core/instant.ts'
import type { Json } from '../core/json.ts'
import type { TreeProgress, WaitOptions } from '../definition/progress.ts'
import type { Run } from '../definition/run.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import { readProgress } from '../envelope/progress.ts'
import { jobOf, openHandedOn } from '../execution/handed-on.ts'
import { lookPatiently, waitUntilOver } from './looking-again.ts'
import { aloneProgress, treeProgress } from './tree-progress.ts'

/** What a handle needs of the program that made it. */
export interface RunHandleDeps {
  keys(): Promise<KeyRing | null>
  clock(): Promise<Clock>
  store(): Promise<JobStore>
  cancel(id: string): Promise<Awaited<ReturnType<JobStore['cancel']>>>
  cancelTree(id: string): Promise<TreeCancellation>
  /** Resolves soon after this program saw the job end, or after `longestMs`. */
  ended(id: string, clock: Clock, longestMs: number, signal: AbortSignal | undefined): Promise<void>
}

export class RunHandle implements Run<never> {
  readonly id: string
  readonly job: string
  readonly created: boolean
  readonly #deps: RunHandleDeps

  constructor(id: string, job: string, created: boolean, deps: RunHandleDeps) {
    this.id = id
    this.job = job
    this.created = created
    this.#deps = deps
  }

  async state(): Promise<string> {
    return (await this.#record()).state
  }

  async progress(): Promise<Json> {
    const record = await this.#record()
    if (record.progress === null) return null
    return JSON.parse(readProgress(record.progress, record, await this.#deps.keys())) as Json
  }

  async result(options: WaitOptions = {}): Promise<never> {
    const clock = await this.#deps.clock()
    const record = await waitUntilOver(
      {
        look: () => this.#look(),
        isOver: ({ state }) => isFinal(state),
        rest: (_, longestMs, signal) => this.#deps.ended(this.id, clock, longestMs, signal),
        late: (seen) =>
          `Job "${seen?.job ?? this.job}" (${this.id}) is ${seen?.state ?? 'in a state that is not known'} and did not end`,
      },
      clock,
      options,
    )
    return resultOf(record, await this.#deps.keys())
  }

  async cancel({ tree = false }: { readonly tree?: boolean } = {}): Promise<boolean> {
    if (tree) return this.#cancelTree()
    const answer = await this.#deps.cancel(this.id)
    if (answer === 'missing') throw this.#missing()
    return answer !== 'ended'
  }

  async reschedule(at: Instant): Promise<void> {
    const runAt = parseInstant(at, 'at')
    const answer = await (await this.#deps.store()).reschedule(this.id, runAt)
    if (answer === 'missing') throw this.#missing()
    if (answer === 'moved') return
    const why = answer === 'claimed' ? 'a worker has it already' : 'it has ended'
    throw new TreadleError('RUN_ENDED', `Job ${this.id} can not be moved any more: ${why}`)
  }

  async tree(): Promise<TreeProgress> {
    const { root, state } = await this.#record()
    const store = await this.#deps.store()
    return root === null ? aloneProgress(state) : treeProgress(await lookPatiently(() => store.tree(root), this.#deps.clock))
  }

  async #cancelTree(): Promise<boolean> {
    await this.#record()
    const { cancelled, requested } = await this.#deps.cancelTree(this.id)
    return cancelled + requested > 0
  }

  #record(): Promise<JobRecord> {
    return lookPatiently(
      () => this.#look(),
      () => this.#deps.clock(),
    )
  }

  async #look(): Promise<JobRecord> {
    const record = await (await this.#deps.store()).get(this.id)
    if (record === null) throw this.#missing()
    return record
  }

  #missing(): TreadleError {
    const message = `There is no job ${this.id}. It never was, or it ended and was kept no longer (see the option keep).`
    return new TreadleError('RUN_NOT_FOUND', message)
  }
}

function resultOf(record: JobRecord, keys: KeyRing | null): never {
  // What was skipped because its work was done before has the result of that run.
  const hasResult = record.state === 'succeeded' || (record.state === 'skipped' && record.result !== null)
  // A success without a result is signed only where somebody waits for it, and there is nothing to be forged in it.
  const result = record.result === null ? null : openHandedOn(record, jobOf(record), keys)
  if (hasResult) return (result === null ? undefined : JSON.parse(result)) as never
  const last = record.errors.at(-1)?.message
  const why = last ?? record.reason
  throw new TreadleError('RUN_FAILED', `Job "${record.job}" (${record.id}) is ${record.state}${why === null ? '' : `: ${why}`}`)
}
