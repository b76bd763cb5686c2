import { TreadleError } from '../core/errors.ts'
import { refuseUnknownOptions } from '../core/options.ts'
import { jobNameProblem, queueProblem } from '../definition/names.ts'
import type { JobStore } from '../queue/contract/store.ts'

/** What can be paused: all jobs of a queue, or all jobs with a key in any queue. */
export type Pausable = { readonly queue: string; readonly job?: never } | { readonly job: string; readonly queue?: never }

export async function pauseIn(store: JobStore, target: Pausable): Promise<void> {
  refuseUnsound(target, 'pause')
  await (target.job === undefined ? store.pause(target.queue) : store.pauseJob(target.job))
}

export async function resumeIn(store: JobStore, target: Pausable): Promise<void> {
  refuseUnsound(target, 'resume')
  await (target.job === undefined ? store.resume(target.queue) : store.resumeJob(target.job))
}

function refuseUnsound(target: Pausable, word: string): void {
  const { queue, job } = Object(target) as { readonly queue?: unknown; readonly job?: unknown }
  const isOne = (queue === undefined) !== (job === undefined)
  const problem = isOne
    ? queue === undefined
      ? jobNameProblem(job)
      : queueProblem(queue)
    : "give either { queue: 'mail' } or { job: 'send-mail' }"
  if (problem !== undefined) throw new TreadleError('CONFIG_INVALID', `${word}: ${problem}`)
  refuseUnknownOptions(target, ['queue', 'job'], word)
}
