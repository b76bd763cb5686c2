import { TreadleError } from '../core/errors.ts'
import { refuseUnknownOptions } from '../core/options.ts'
import { jobNameProblem, queueProblem } from '../definition/names.ts'
import type { JobStore, Pausable } from '../queue/contract/store.ts'

export async function setPausedIn(store: JobStore, target: Pausable, paused: boolean): Promise<void> {
  refuseUnsound(target, paused ? 'pause' : 'resume')
  await store.setPaused(target, paused)
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
