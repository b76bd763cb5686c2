import { shown } from '../../core/text/shown.ts'

const deliveryModes = ['at-least-once', 'at-most-once', 'effectively-once'] as const

/**
 * What happens if a worker dies during a run: the job runs again (`at-least-once`), it never runs again (`at-most-once`), or it
 * runs again and the writes of the interrupted run never took effect (`effectively-once`).
 */
export type DeliveryMode = (typeof deliveryModes)[number]

/** `isIsolated`: whether the handler runs in another thread or process. */
export function deliveryProblems(
  delivery: DeliveryMode,
  maxAttempts: number,
  isIsolated: boolean,
): readonly (string | undefined)[] {
  return [
    deliveryModes.includes(delivery)
      ? undefined
      : `delivery must be ${deliveryModes.slice(0, -1).join(', ')} or ${deliveryModes.at(-1)}, got ${shown(delivery)}`,
    delivery === 'at-most-once' && maxAttempts > 1
      ? 'a job that is delivered at-most-once never starts twice: give it no retries'
      : undefined,
    delivery === 'effectively-once' && isIsolated
      ? 'effectively-once needs the database in the same thread, so it cannot be isolated'
      : undefined,
  ]
}
