import type { Envelope } from '../../envelope/envelope.ts'
import { type PlaceInWorkflow, type Plan, type SealingDeps, sealJob, type WrittenPayload } from '../dispatching/sealing.ts'
import { refuseKeyInWorkflow } from './linked-keys.ts'

/** A job of a workflow that is ready to be sealed. */
export interface WrittenStep {
  readonly plan: Plan
  readonly payload: WrittenPayload
  readonly place: PlaceInWorkflow
}

/** Seals all jobs of a workflow. Returns the envelopes in the same order. */
export function sealWorkflow(steps: readonly WrittenStep[], sealing: SealingDeps): readonly Envelope[] {
  for (const { plan, payload, place } of steps) refuseKeyInWorkflow(plan, payload, place)
  const withKeys = steps.filter(({ payload }) => payload.uniqueKey !== null)
  const mayBeReplaced = new Set(withKeys.map(({ place }) => place.id as string))
  return steps.map(({ plan, payload, place }) => sealJob(plan, payload, sealing, { place: { ...place, mayBeReplaced } }))
}
