import type { RepeatBase, RepeatSchedule } from '../schedule.ts'
import { weekdayName } from './day-words.ts'
import { counted } from './lists-in-words.ts'

/** "1 day after the last run was due, at the start of that day" */
export function repeatWords({ base, expression }: Pick<RepeatSchedule, 'base' | 'expression'>): string {
  const [first, ...rest] = modifiersIn(expression)
  return [firstWords(first!, ended[base]), ...rest.map(laterWords)].join(', ')
}

/** The modifiers of a repeat as written: `+1 DAY`, `START OF DAY`. */
export function modifiersIn(expression: string): string[] {
  const [, ...modifiers] = expression.split(',').map((part) => part.trim())
  return modifiers
}

const ended: Record<RepeatBase, string> = { SCHEDULED: 'was due', STARTED: 'started', FINISHED: 'finished' }

function firstWords(modifier: string, event: string): string {
  const shift = shiftOf(modifier)
  if (shift !== null)
    return `${counted(Math.abs(shift.amount), shift.unit)} ${shift.amount < 0 ? 'before' : 'after'} the last run ${event}`
  const unit = startOf(modifier)
  if (unit !== null) return `At the start of the ${unit} ${unit === 'day' ? 'on' : 'in'} which the last run ${event}`
  return `On the day on which the last run ${event}${weekdayWords(modifier)}`
}

function laterWords(modifier: string): string {
  const shift = shiftOf(modifier)
  if (shift !== null) return `${counted(Math.abs(shift.amount), shift.unit)} ${shift.amount < 0 ? 'earlier' : 'later'}`
  const unit = startOf(modifier)
  return unit === null ? `on that day${weekdayWords(modifier)}` : `at the start of that ${unit}`
}

function shiftOf(modifier: string): { amount: number; unit: string } | null {
  const [, text, word] = /^([+-]\d+) ([A-Z]+?)S?$/.exec(modifier) ?? []
  if (text === undefined || word === undefined) return null
  const [amount, unit] = [Number(text), word.toLowerCase()]
  const larger = unit === 'second' && amount !== 0 ? largerUnits.find(({ seconds }) => amount % seconds === 0) : undefined
  return larger === undefined ? { amount, unit } : { amount: amount / larger.seconds, unit: larger.unit }
}

/** For seconds: 900 of them are 15 minutes. Days are left out, because 48 hours are not 2 days where clocks change. */
const largerUnits = [
  { unit: 'hour', seconds: 3_600 },
  { unit: 'minute', seconds: 60 },
] as const

function startOf(modifier: string): string | null {
  const [, unit] = /^START OF ([A-Z]+)$/.exec(modifier) ?? []
  return unit?.toLowerCase() ?? null
}

function weekdayWords(modifier: string): string {
  const weekday = weekdayName(Number(modifier.slice(-1)))
  return ` if it is a ${weekday}, else on the next ${weekday}`
}
