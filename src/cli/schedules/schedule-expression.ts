import { messageOf } from '../../core/errors.ts'
import { describedSchedule, isRepeatText } from '../../scheduling/saying/expression.ts'
import type { Schedule } from '../../scheduling/schedule.ts'
import { UsageError } from '../failure.ts'

export { isExpression } from '../../scheduling/saying/expression.ts'

export function parseExpression(text: string, zone = 'UTC'): Schedule {
  try {
    const words = describedSchedule(text)
    return (isRepeatText(text) ? words : words.timezone(zone)).toSchedule() as Schedule
  } catch (thrown) {
    throw new UsageError(messageOf(thrown), 'SCHEDULE_INVALID', { cause: thrown })
  }
}
