import { messageOf } from '../core/errors.ts'
import { cannedRepeats } from '../scheduling/repeating/repeat.ts'
import { Frequency } from '../scheduling/saying/frequency.ts'
import { symbolObject } from '../scheduling/saying/symbols.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import { UsageError } from './failure.ts'

/** The name of a schedule is one word. */
export function isExpression(text: string): boolean {
  return /^@|[\s,]/.test(text) || isCanned(text) || isSymbol(text)
}

/** Read with the words of a definition, so that what one refuses the other refuses too. */
export function parseExpression(text: string, zone = 'UTC'): Schedule {
  try {
    if (isRepeat(text)) return new Expression().repeat(text).parsed
    const words = new Expression().timezone(zone)
    return (isSymbol(text) ? words.schedule(text) : words.cron(text)).parsed
  } catch (thrown) {
    throw new UsageError(messageOf(thrown), 'SCHEDULE_INVALID', { cause: thrown })
  }
}

class Expression extends Frequency {
  get parsed(): Schedule {
    return this.toSchedule() as Schedule
  }

  protected override beforeChange(): void {}
}

function isRepeat(text: string): boolean {
  return /^(?:scheduled|started|finished)\b/i.test(text) || isCanned(text)
}

function isCanned(text: string): boolean {
  return Object.hasOwn(cannedRepeats, text)
}

function isSymbol(text: string): boolean {
  try {
    symbolObject(text)
    return true
  } catch {
    return false
  }
}
