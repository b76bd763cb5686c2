import { TreadleError } from '../../core/errors.ts'
import type { PlaceInWorkflow, Plan, WrittenPayload } from '../dispatching/sealing.ts'

/**
 * Refuses a unique key that could break the guarantees of a workflow. An existing job may stand in for one of its jobs, but that
 * job starts independently: it does not wait for the others, and has its own payload, time and dependencies.
 */
export function refuseKeyInWorkflow(plan: Plan, { uniqueKey }: WrittenPayload, place: PlaceInWorkflow): void {
  const { uniqueness, definition } = plan
  if (uniqueKey === null || uniqueness === null) return
  const waits = plan.waitsFor.length + place.waitsFor.length > 0
  const why = waits
    ? 'it waits for others, and a job that holds its unique key would run in its place without that'
    : uniqueness.onConflict === 'ignore'
      ? undefined
      : `a ${place.parent === null ? 'step' : 'child'} cannot change the job that holds its unique key`
  if (why === undefined) return
  const message = `Dispatch of "${definition.job}" in a workflow: ${why}. Give it no key: { unique: null }`
  throw new TreadleError('CONFIG_INVALID', message)
}
