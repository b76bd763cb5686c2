export const deliveryModes = ['at-least-once', 'at-most-once', 'effectively-once'] as const

/**
 * What is promised of a run whose worker dies: it is begun again, it is never begun again, or it is begun again and the writes of
 * the run that was cut off never were.
 */
export type DeliveryMode = (typeof deliveryModes)[number]

/** `isIsolated` tells that the handler runs in another thread or process. */
export function deliveryProblems(
  delivery: DeliveryMode,
  maxAttempts: number,
  isIsolated: boolean,
): readonly (string | undefined)[] {
  return [
    deliveryModes.includes(delivery)
      ? undefined
      : `delivery must be ${deliveryModes.slice(0, -1).join(', ')} or ${deliveryModes.at(-1)}, got ${JSON.stringify(delivery)}`,
    delivery === 'at-most-once' && maxAttempts > 1
      ? 'a job that is delivered at-most-once is never begun twice: give it no retries'
      : undefined,
    delivery === 'effectively-once' && isIsolated
      ? 'effectively-once needs the database in the same thread, so it cannot be isolated'
      : undefined,
  ]
}
