import type { Steps } from '../../core/answer.ts'
import type { RunTrace } from '../../execution/attempt/run-trace.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'
import type { ObservedJob } from '../../telemetry/observer.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { SealingDeps } from './sealing.ts'

/** Jobs that are sent together, and the attempt that creates them as its children. */
export interface TracedJobs extends ObservedJob {
  readonly count: number
  readonly parent?: RunTrace | null
}

/** Sends jobs as one dispatch. If tracing is on, the jobs carry the trace of the dispatch. */
export function tracedDispatch<Answer>(
  { tracing }: Telemetry,
  sealing: SealingDeps,
  jobs: TracedJobs,
  send: (sealing: SealingDeps) => Promise<Answer>,
): Promise<Answer> {
  const trace = tracing === null ? null : tracing.dispatch(jobs)
  return trace === null ? send(sealing) : trace.during(send({ ...sealing, carried: trace.meta }))
}

/** The same in the caller's transaction, which may have to be synchronous and may still be rolled back. */
export function* tracedJoinedDispatch(
  { tracing, observers }: Telemetry,
  sealing: SealingDeps,
  jobs: readonly ObservedJob[],
  send: (sealing: SealingDeps) => Steps<readonly SendReceipt[]>,
): Steps<readonly SendReceipt[]> {
  const [first] = jobs
  const trace = tracing === null || first === undefined ? null : tracing.dispatch({ ...first, count: jobs.length })
  try {
    const receipts = yield* send(trace === null ? sealing : { ...sealing, carried: trace.meta })
    trace?.ended()
    if (observers.isOn) observers.dispatched(jobs, receipts)
    return receipts
  } catch (error) {
    trace?.ended(error)
    throw error
  }
}
