import { TreadleError } from '../../core/errors.ts'
import { refuseUnknownOptions } from '../../core/options.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { DispatchOptions } from '../../definition/dispatching/dispatch.ts'
import { noPayload } from '../../definition/dispatching/draft.ts'
import type { Run } from '../../definition/dispatching/run.ts'
import type { DispatchChanges, DispatchRequest } from '../../definition/middleware.ts'

/** A job that is about to be sent. */
export interface Outgoing {
  readonly definition: JobDefinition
  readonly payload: unknown
  readonly options: DispatchOptions
}

/**
 * Sends jobs through their dispatch middleware. Jobs are sent together, once all of them have passed their middleware. If one is
 * refused, none is sent.
 */
export async function sentThroughMiddleware<Job extends Outgoing>(
  jobs: readonly Job[],
  send: (jobs: readonly Job[]) => Promise<readonly Run[]>,
): Promise<readonly Run[]> {
  if (jobs.every(({ definition }) => definition.fields.aroundDispatch.length === 0)) return send(jobs)
  const gate = new Gate(jobs, send)
  return Promise.all(jobs.map((job, index) => gate.pass(job, index)))
}

/**
 * The same in a transaction that cannot wait, so each middleware must call `next` before it waits for anything. What it does after
 * that happens when the jobs were sent, and `onLate` is told if it fails.
 */
export function sentThroughMiddlewareAtOnce<Job extends Outgoing>(
  jobs: readonly Job[],
  send: (jobs: readonly Job[]) => readonly Run[],
  onLate: (job: string, thrown: unknown) => void,
): readonly Run[] {
  let sent: ((runs: readonly Run[]) => void) | undefined
  const sending = new Promise<readonly Run[]>((resolve) => {
    sent = resolve
  })
  const passed = jobs.map((job, index) => {
    const run = sending.then((runs) => runs[index] as Run)
    return passedAtOnce(job, 0, run, (thrown) => onLate(job.definition.job, thrown))
  })
  const runs = send(passed)
  sent?.(runs)
  return runs
}

function passedAtOnce<Job extends Outgoing>(job: Job, place: number, run: Promise<Run>, onLate: (thrown: unknown) => void): Job {
  const middleware = job.definition.fields.aroundDispatch[place]
  if (middleware === undefined) return job
  let through: Job | undefined
  const running = middleware(requestOf(job), (changes = {}) => {
    if (through !== undefined) throw misused(job, 'called next() twice')
    through = passedAtOnce(changed(job, changes), place + 1, run, onLate)
    return run
  })
  Promise.resolve(running).catch((thrown) => through !== undefined && onLate(thrown))
  if (through !== undefined) return through
  throw misused(job, 'did not call next() at once: in a transaction on a SQLite file it cannot wait before it does')
}

/** Holds jobs back until all of them have passed their middleware. */
class Gate<Job extends Outgoing> {
  readonly #send: (jobs: readonly Job[]) => Promise<readonly Run[]>
  readonly #arrived: Job[]
  readonly #sent: Promise<readonly Run[]>
  #resolve: (runs: readonly Run[] | Promise<readonly Run[]>) => void = () => {}
  #reject: (thrown: unknown) => void = () => {}
  #missing: number

  constructor(jobs: readonly Job[], send: (jobs: readonly Job[]) => Promise<readonly Run[]>) {
    this.#send = send
    this.#arrived = [...jobs]
    this.#missing = jobs.length
    this.#sent = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Callers of `pass` receive the rejection. If none of them waits for it, the middleware that refused has already thrown.
    this.#sent.catch(() => {})
  }

  async pass(job: Job, index: number): Promise<Run> {
    let isThrough = false
    const enter = async (place: number, seen: Job): Promise<Run> => {
      const middleware = seen.definition.fields.aroundDispatch[place]
      if (middleware === undefined) {
        if (isThrough) throw misused(job, 'called next() twice')
        isThrough = true
        return this.#arrive(seen, index)
      }
      return middleware(requestOf(seen), (changes = {}) => enter(place + 1, changed(seen, changes)))
    }
    try {
      const run = await enter(0, job)
      if (isThrough) return run
      throw misused(job, 'did not call next()')
    } catch (thrown) {
      if (!isThrough) this.#reject(thrown)
      throw thrown
    }
  }

  async #arrive(job: Job, index: number): Promise<Run> {
    this.#arrived[index] = job
    this.#missing--
    if (this.#missing === 0) this.#resolve(this.#send(this.#arrived))
    return (await this.#sent)[index] as Run
  }
}

function requestOf({ definition, payload, options }: Outgoing): DispatchRequest {
  return { job: definition.job, payload: payload === noPayload ? undefined : payload, options }
}

function misused({ definition }: Outgoing, what: string): TreadleError {
  return new TreadleError('CONFIG_INVALID', `A middleware around the dispatch of "${definition.job}" ${what}`)
}

/** A payload of undefined means that there is none, as in the request. */
function changed<Job extends Outgoing>(job: Job, changes: DispatchChanges): Job {
  refuseUnknownOptions(changes, ['payload', 'options'], `next() of a middleware around the dispatch of "${job.definition.job}"`)
  const { payload, ...rest } = changes
  if (!('payload' in changes)) return { ...job, ...rest }
  return { ...job, ...rest, payload: payload === undefined ? noPayload : payload }
}
