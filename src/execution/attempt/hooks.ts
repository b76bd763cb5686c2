import { messageOf } from '../../core/errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatDuration } from '../../core/time/duration.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { Outcome } from '../end/outcome.ts'
import type { RunContext } from './run-context.ts'

/** Calls the hooks of a job whose outcome is certain. */
export async function callHooks(
  outcome: Outcome,
  result: unknown,
  { fields }: JobDefinition,
  context: RunContext,
  clock: Clock,
): Promise<void> {
  const { payload } = context
  if (outcome.kind === 'done') {
    for (const hook of fields.onSuccess) await quietly(() => hook(result as never, payload, context), context, clock)
  }
  for (const hook of fields.finally) await quietly(() => hook(payload, context), context, clock)
}

/** How long a hook after the handler may take before the job is settled without it. */
export const longestHookMs = 10_000

/** Hooks after the handler only observe: they cannot change the outcome, nor keep it from being stored. */
export async function quietly(hook: () => unknown, context: RunContext, clock: Clock): Promise<void> {
  try {
    const watching = Promise.resolve(hook())
    await new Promise<void>((resolve, reject) => {
      const timer = clock.timer(longestHookMs, () => reject(new Error(`it did not end within ${formatDuration(longestHookMs)}`)))
      watching.then(() => resolve(), reject).finally(() => timer.cancel())
    })
  } catch (thrown) {
    context.logger.error(`a hook failed: ${messageOf(thrown)}`)
  }
}
