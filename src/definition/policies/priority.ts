import { shown } from '../../core/text/shown.ts'
/** Higher runs sooner. The named levels leave room in between. */
export const priorityLevels = { low: 1, normal: 5, high: 10, critical: 20 } as const

/** A priority: a number (higher runs sooner) or a named level. */
export type Priority = number | keyof typeof priorityLevels

export const defaultPriority = priorityLevels.normal

const lowest = -32_768
const highest = 32_767

export function priorityNumber(priority: Priority): number {
  return typeof priority === 'string' && Object.hasOwn(priorityLevels, priority) ? priorityLevels[priority] : Number(priority)
}

export function priorityProblem(priority: unknown): string | undefined {
  if (typeof priority === 'string' && Object.hasOwn(priorityLevels, priority)) return undefined
  if (Number.isInteger(priority) && (priority as number) >= lowest && (priority as number) <= highest) return undefined
  const names = Object.keys(priorityLevels).join(', ')
  return `priority must be a whole number from ${lowest} to ${highest} or one of ${names}, got ${shown(priority)}`
}
