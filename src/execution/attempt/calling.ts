import type { JobContext } from '../../definition/context.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { HandlerFunction } from '../../definition/handler.ts'
import { throughMiddleware } from '../middleware.ts'
import type { ActiveRun } from './active-run.ts'
import { SnoozeSignal } from './control.ts'
import type { Isolates } from './isolates.ts'
import type { RunContext } from './run-context.ts'
import { stopError } from './stop-reason.ts'

export interface CallingDeps {
  /** Null if handlers are called in place, whatever their definition says. */
  readonly isolates: Isolates | null
  /** Functions passed with dispatches, by job id. Each is called instead of its definition's handler. */
  readonly givenFunctions?: ReadonlyMap<string, HandlerFunction<never, unknown>>
}

/** Most handlers are called at once, without waiting for anything. */
export function callHandler(definition: JobDefinition, context: RunContext, run: ActiveRun, deps: CallingDeps): Promise<unknown> {
  const { around } = definition.fields
  if (around.length === 0) return call(definition, context, context, run, deps)
  return throughMiddleware(around, context, (seen) => call(definition, seen, context, run, deps))
}

/** `seen` is the context with what middleware has added. */
function call(
  definition: JobDefinition,
  seen: JobContext<never>,
  context: RunContext,
  run: ActiveRun,
  deps: CallingDeps,
): Promise<unknown> {
  const { before, isolation, handler } = definition.fields
  const isInPlace = isolation === null || deps.isolates === null
  const isPlain = before.length === 0 && isInPlace && !deps.givenFunctions?.has(context.id)
  if (!isPlain || run.stopReason !== null || !run.isItsTurn) return callInTurn(definition, seen, context, run, deps)
  try {
    return Promise.resolve(run.begin(() => handler?.(context.payload, seen)))
  } catch (thrown) {
    return Promise.reject(thrown)
  }
}

async function callInTurn(
  { fields }: JobDefinition,
  seen: JobContext<never>,
  context: RunContext,
  run: ActiveRun,
  deps: CallingDeps,
): Promise<unknown> {
  for (const before of fields.before) await before(context.payload, seen)
  while (run.stopReason === null && !run.isItsTurn) {
    const heldMs = await run.untilItsTurn(run.isBegunForGood ? Number.POSITIVE_INFINITY : undefined)
    if (heldMs > 0) throw new SnoozeSignal(heldMs)
  }
  if (run.stopReason !== null) throw stopError(run.stopReason, run.lease)
  const given = deps.givenFunctions?.get(context.id)
  if (given !== undefined || fields.isolation === null || deps.isolates === null) {
    return run.begin(() => (given ?? fields.handler)?.(context.payload, seen))
  }
  const { result, kill } = deps.isolates.run(fields.isolation, context, () => run.beginElsewhere())
  run.killAfter(fields.isolation.graceMs, kill)
  return result
}
