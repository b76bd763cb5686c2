import { TreadleError } from '../../core/errors.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { Opened } from '../../envelope/envelope.ts'
import type { OnceMark } from '../../queue/contract/contract.ts'
import type { ActiveRun } from '../attempt/active-run.ts'
import { refusedReturn } from '../attempt/control.ts'
import type { RunServices } from '../attempt/run-context.ts'
import { stopError } from '../attempt/stop-reason.ts'
import { RunTransaction, type TransactionDeps } from '../attempt/transaction.ts'
import type { Outcome } from './outcome.ts'
import { again, asClaimed, asWritten, type WrittenDeps } from './repeating.ts'
import { sealingKeys } from './sealing.ts'

export interface DeliveryDeps extends TransactionDeps, WrittenDeps {
  readonly services: RunServices
}

/** A run whose handler is about to be called. */
export interface AdmittedRun {
  readonly run: ActiveRun
  readonly once: OnceMark | null
  readonly opened: Opened
}

/** How long to wait before trying again while the database does not answer. */
const askAgainMs = 1_000

/** Does what the job's delivery guarantee requires before its handler is called. Returns an outcome if that is not possible. */
export async function prepareDelivery(
  definition: JobDefinition,
  { run, once, opened }: AdmittedRun,
  deps: DeliveryDeps,
): Promise<Outcome | null> {
  switch (definition.fields.delivery) {
    case 'at-least-once':
      return null
    case 'at-most-once':
      return beginForGood(run, deps.services)
    case 'effectively-once': {
      const { token, attempt, envelope } = run.lease
      const onLost = () => {
        run.stop('lost')
        return stopError('lost', run.lease)
      }
      const isHeld = () => deps.services.extend(token)
      const repeating = {
        claimed: () => again(asClaimed(opened, run), deps),
        written: async () => {
          const done = opened.identity.repeat === null ? asClaimed(opened, run) : await asWritten(opened, run, deps)
          return () => again(done, deps)
        },
      }
      run.transaction = new RunTransaction(
        { definition, envelope, token, attempt, once, repeating, isHeld, onLost },
        { ...deps, keys: sealingKeys(run.lease, deps.keys) },
      )
      return null
    }
  }
}

/** A claim may be lost in a power failure, so the start of the handler is recorded on disk before it is called. */
async function beginForGood(run: ActiveRun, services: RunServices): Promise<Outcome | null> {
  try {
    if (!(await services.begin(run.lease.token))) return { kind: 'lost' }
  } catch (thrown) {
    services.errors.tryingAgain(services.logger, thrown, `the start of job ${run.lease.envelope.id} could not be written`)
    return { kind: 'snooze', delayMs: askAgainMs }
  }
  run.isBegunForGood = true
  return null
}

/** Turns the outcome of a run that must not be begun again into an end of its job. */
export function endForGood(outcome: Outcome, { job, id }: { readonly job: string; readonly id: string }): Outcome {
  switch (outcome.kind) {
    case 'retry':
      return { kind: 'dead', reason: 'exhausted', error: outcome.error }
    case 'snooze':
    case 'wait':
      return { kind: 'dead', reason: 'exhausted', error: refusedReturn(job) }
    case 'release': {
      const message = `The worker was shut down while job "${job}" (${id}) ran. It must not start twice, so it was not put back; what it did may be incomplete.`
      return { kind: 'dead', reason: 'interrupted', error: new TreadleError('STOPPED', message) }
    }
    default:
      return outcome
  }
}
