import { TreadleError } from '../../core/errors.ts'
import { refuseUnknownOptions } from '../../core/options.ts'
import type { Json } from '../../core/text/json.ts'
import { shown } from '../../core/text/shown.ts'
import type { Clock } from '../../core/time/clock.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { type Instant, parseInstant } from '../../core/time/instant.ts'
import type { TreeProgress, WaitOptions } from '../../definition/dispatching/progress.ts'
import type { Run } from '../../definition/dispatching/run.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import { readProgress } from '../../envelope/progress.ts'
import { readMessage } from '../../envelope/stored-error.ts'
import { jobOf, openHandedOn } from '../../execution/admit/handed-on.ts'
import { isFinal } from '../../queue/contract/job-state.ts'
import { type CancelOutcome, treeCounts } from '../../queue/contract/queue-counts.ts'
import type { Cancellation, JobRecord, JobStore } from '../../queue/contract/store.ts'
import { findWorkflow, refuseFailedWorkflow, type WholeWorkflow, workflowJobs } from '../workflows/whole-workflow.ts'
import { lookPatiently, waitUntilOver } from './looking-again.ts'
import { aloneProgress, treeProgress } from './tree-progress.ts'

/** Which of its backends a program keeps a job in. */
export interface Home {
  readonly program: object
  readonly backend: string
}

/** What a handle needs from the program that created it. */
export interface RunHandleDeps {
  /** Unknown of a job that is known only by its id. */
  readonly home?: Home
  keys(): Promise<KeyRing | null>
  clock(): Promise<Clock>
  /** The clock to compare the queue's timestamps with. */
  queueClock(): Promise<Clock>
  /** Whether `store` knows a job once it is sent or only once it is claimed. */
  recordsFrom(): Promise<'send' | 'claim'>
  store(): Promise<JobStore>
  cancel(id: string): Promise<CancelOutcome>
  cancelTree(id: string): Promise<Cancellation>
  /** Resolves soon after this process sees the job end, or after `longestMs`. */
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

  /** The backend that its job is in, if it is another one of the same program. */
  backendBeside({ home }: RunHandleDeps): string | null {
    const own = this.#deps.home
    const isBeside = own !== undefined && own.program === home?.program && own.backend !== home.backend
    return isBeside ? own.backend : null
  }

  async state(): Promise<string> {
    return (await this.#patiently()).state
  }

  async progress(): Promise<Json> {
    const record = await this.#patiently()
    if ('tree' in record) return record.tree.done
    if (record.progress === null) return null
    return JSON.parse(readProgress(record.progress, record, await this.#deps.keys())) as Json
  }

  async result(options: WaitOptions = {}): Promise<never> {
    const clock = await this.#deps.clock()
    const record = await waitUntilOver(
      {
        look: () => this.#lookFromClaim(),
        isOver,
        rest: (_, longestMs, signal) => this.#deps.ended(this.id, clock, longestMs, signal),
        late: (seen) =>
          `${nameOf(seen, this.job)} (${this.id}) is ${seen === null ? 'not claimed yet' : (seen?.state ?? 'in a state that is not known')} and did not end`,
      },
      clock,
      options,
    )
    if (record === null) throw this.#missing()
    const keys = await this.#deps.keys()
    if (!('tree' in record)) return resultOf(record, keys)
    refuseFailedWorkflow(record)
    const jobs = await workflowJobs(this.id, await this.#deps.store())
    return jobs.map((job) => (hasResult(job) ? resultOf(job, keys) : undefined)) as never
  }

  async cancel(options: { readonly tree?: boolean } = {}): Promise<boolean> {
    refuseUnknownOptions(options, ['tree'], 'cancel')
    const { tree = false } = options
    if (tree) return this.#cancelTree()
    const answer = await this.#deps.cancel(this.id)
    if (answer === 'missing') return this.#cancelTree()
    return answer !== 'ended'
  }

  async reschedule(when: Instant | Duration): Promise<void> {
    const clock = await this.#deps.queueClock()
    const runAt = instantOf(when, clock.now())
    const answer = (await (await this.#deps.store()).amend([{ id: this.id, runAt }]))[0]
    if (answer === 'missing') throw this.#missing()
    if (answer === 'moved') return
    const why = answer === 'claimed' ? 'a worker has it already' : 'it has ended'
    throw new TreadleError('RUN_ENDED', `Job ${this.id} can no longer be moved: ${why}`)
  }

  async retry(): Promise<boolean> {
    const found = await this.#patiently()
    const store = await this.#deps.store()
    const jobs = 'tree' in found ? (await workflowJobs(this.id, store)).filter(hasFailed) : [found]
    const answers = jobs.length === 0 ? [] : await store.retry(jobs.map(({ id }) => id))
    return answers.includes('requeued')
  }

  async tree(): Promise<TreeProgress> {
    const record = await this.#patiently()
    if ('tree' in record) return record.tree
    const { root, state } = record
    const store = await this.#deps.store()
    return root === null
      ? aloneProgress(state)
      : treeProgress(await lookPatiently(() => treeCounts(store, root), this.#deps.clock))
  }

  async #cancelTree(): Promise<boolean> {
    await this.#patiently()
    const { cancelled, requested } = await this.#deps.cancelTree(this.id)
    return cancelled + requested > 0
  }

  #patiently(): Promise<JobRecord | WholeWorkflow> {
    return lookPatiently(
      () => this.#look(),
      () => this.#deps.clock(),
    )
  }

  /** The id may be that of a workflow, which is not a job itself. */
  async #look(): Promise<JobRecord | WholeWorkflow> {
    const store = await this.#deps.store()
    const found = (await store.get(this.id)) ?? (await findWorkflow(this.id, store))
    if (found !== null) return found
    const hint =
      (await this.#deps.recordsFrom()) === 'claim' ? ' A job that the broker carries is known from its first claim on.' : ''
    throw this.#missing(hint)
  }

  /** Null if the job was sent but perhaps not claimed yet, so that the store does not know it. */
  async #lookFromClaim(): Promise<JobRecord | WholeWorkflow | null> {
    try {
      return await this.#look()
    } catch (thrown) {
      const isMissing = thrown instanceof TreadleError && thrown.code === 'RUN_NOT_FOUND'
      if (isMissing && this.created && (await this.#deps.recordsFrom()) === 'claim') return null
      throw thrown
    }
  }

  #missing(hint = ''): TreadleError {
    const message = `There is no job and no workflow ${this.id}. It never existed, or its retention period has passed (see the option keep).`
    return new TreadleError('RUN_NOT_FOUND', message + hint)
  }
}

function isOver(seen: JobRecord | WholeWorkflow | null): boolean {
  if (seen === null) return false
  return 'tree' in seen ? seen.tree.done === 1 : isFinal(seen.state)
}

/**
 * A success without a result is signed only if other jobs depend on it or if `signEveryEnd` is set. A job that was never claimed
 * cannot have succeeded.
 */
function isPlainSuccess({ id, state, result, seal, startedAt }: JobRecord, keys: KeyRing | null): boolean {
  if (result !== null || seal !== null || keys?.signsEveryEnd === true) return false
  if (keys !== null && state === 'succeeded' && startedAt === null) {
    throw new TreadleError('RESULT_FORGED', `Job ${id} has succeeded without ever being claimed: it was changed in the database`)
  }
  return true
}

/** A job that was skipped because its work was already done has the result of the earlier run. */
function hasResult({ state, result }: JobRecord): boolean {
  return state === 'succeeded' || (state === 'skipped' && result !== null)
}

function hasFailed(job: JobRecord): boolean {
  return isFinal(job.state) && !hasResult(job)
}

function nameOf(seen: JobRecord | WholeWorkflow | null | undefined, job: string): string {
  return seen != null && 'tree' in seen ? 'Workflow' : `Job "${seen?.job ?? job}"`
}

function instantOf(when: Instant | Duration, now: number): number {
  if (when instanceof Date || (typeof when === 'string' && when.includes('-'))) return parseInstant(when, 'when')
  try {
    return now + parseDuration(when, 'when')
  } catch (cause) {
    const message = `when must be a Date, an ISO 8601 string with an offset, or a duration such as '10m', got ${shown(when)}`
    throw new TreadleError('INSTANT_INVALID', message, { cause })
  }
}

function resultOf(record: JobRecord, keys: KeyRing | null): never {
  const result = isPlainSuccess(record, keys) ? null : openHandedOn(record, jobOf(record), keys)
  if (hasResult(record)) return (result === null ? undefined : JSON.parse(result)) as never
  const last = record.errors.at(-1)?.message
  const why = last === undefined ? record.reason : readMessage(last, record.id, keys)
  throw new TreadleError('RUN_FAILED', `Job "${record.job}" (${record.id}) is ${record.state}${why === null ? '' : `: ${why}`}`)
}
