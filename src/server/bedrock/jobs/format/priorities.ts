import { leadingInteger } from '../../wire/general-headers.ts'
import { Refusal } from '../../wire/refusal.ts'

/** Maps the protocol's priorities to those of the queue. */
const levels: ReadonlyMap<number, number> = new Map([
  [0, 1],
  [250, 3],
  [500, 5],
  [750, 10],
  [850, 15],
  [1000, 20],
])

export const defaultWirePriority = 500

/** The queue's priority for a header. Leading digits count; a text without any is 0. */
export function priorityOf(text: string): number {
  const priority = levels.get(leadingInteger(text))
  if (priority === undefined) throw new Refusal(402, 'Invalid priority value')
  return priority
}

/** The highest protocol priority that is not above the queue's. */
export function wirePriorityOf(priority: number): number {
  let found = 0
  for (const [wire, level] of levels) if (level <= priority) found = wire
  return found
}
