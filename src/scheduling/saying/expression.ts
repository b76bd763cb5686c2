import { cannedRepeats } from '../repeating/repeat.ts'
import type { CalendarObject } from './object-schedule.ts'
import { ScheduleDescription, type ScheduleWords } from './schedule-words.ts'
import { symbolObject } from './symbols.ts'

/** A schedule as a string (cron, a symbol or a repeat), an object, or a function that builds it. */
export type ScheduleExpression = string | CalendarObject | ((words: ScheduleWords) => unknown)

/** Parsed with the same methods as a definition, so that both reject the same input. */
export function describedSchedule(given: ScheduleExpression): ScheduleDescription {
  const words = new ScheduleDescription()
  if (typeof given === 'function') given(words)
  else if (typeof given !== 'string') words.schedule(given)
  else if (isRepeatText(given)) words.repeat(given)
  else if (isSymbol(given)) words.schedule(given)
  else words.cron(given)
  return words
}

/** Whether a string is a schedule expression and not a job name: a name is a single word that matches none of these. */
export function isExpression(text: string): boolean {
  return /^@|[\s,]/.test(text) || isCanned(text) || isSymbol(text)
}

export function isRepeatText(text: string): boolean {
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
