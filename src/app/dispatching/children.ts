import { TreadleError } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { dispatchOptionNames } from '../../definition/dispatching/dispatch.ts'
import { childFailureProblem } from '../../definition/dispatching/workflow.ts'
import { keyProblem } from '../../definition/names.ts'
import type { Registry } from '../../definition/registry.ts'
import type { ChildRequest } from '../../execution/attempt/run-links.ts'
import { stopError } from '../../execution/attempt/stop-reason.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'
import type { Sending } from './sending.ts'

/** Stores a child of a running job, unless the parent has lost its lease. */
export async function sendChild(request: ChildRequest, registry: Registry, sending: Sending): Promise<SendReceipt> {
  const { run, root, definition, payload, key } = request
  const { job } = definition
  const { token, envelope } = run.lease
  const { fields } = registry.get(envelope.job)
  const { onFailure = fields.onChildFailure, ...options } = request.options
  const problems = [
    ...unknownOptions(options, ownOptions),
    keyProblem(key, 'key'),
    childFailureProblem(onFailure, 'onFailure'),
  ].filter((problem) => problem !== undefined)
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `Child "${job}" of "${envelope.job}": ${problems.join('; ')}`)
  const parent = { id: envelope.id, token, key, onFailure, longestWaitMs: fields.longestWaitMs }
  const receipt = await sending.sendChild(
    definition,
    payload,
    options,
    {
      root,
      parent,
      parentJob: envelope,
      waitsFor: [],
    },
    run.trace,
  )
  if (receipt.refused === undefined) return receipt
  if (receipt.refused === 'circular') throw circular(request, receipt.id)
  run.stop(receipt.refused)
  throw stopError(receipt.refused, run.lease)
}

function circular({ run, definition }: ChildRequest, holder: string): TreadleError {
  const what = `Child "${definition.job}" of "${run.lease.envelope.job}"`
  const why = holder === run.lease.envelope.id ? 'is this very job' : `is the job ${holder}, which waits for this one`
  const message = `${what}: what holds its unique key ${why}, so neither would ever end. Do not dispatch it, or give it { unique: null }`
  return new TreadleError('WORKFLOW_CIRCULAR', message)
}

/** A child is stored under its parent's lease, so it cannot join another transaction. */
const ownOptions = dispatchOptionNames.filter((name) => !['dependsOn', 'onDependencyFailure', 'in'].includes(name))
