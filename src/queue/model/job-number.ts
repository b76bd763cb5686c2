/** A counter beyond this number was spoilt: jobs would have to be created for thousands of years to reach it. */
export const lastNumber = 2 ** 52

/** Whether a counter that stands there can give a job this number. */
export function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= lastNumber
}
