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
  const [, amount, unit] = /^([+-]\d+) ([A-Z]+?)S?$/.exec(modifier) ?? []
  return amount === undefined || unit === undefined ? null : { amount: Number(amount), unit: unit.toLowerCase() }
}

function startOf(modifier: string): string | null {
  const [, unit] = /^START OF ([A-Z]+)$/.exec(modifier) ?? []
  return unit?.toLowerCase() ?? null
}

function weekdayWords(modifier: string): string {
  const weekday = weekdayName(Number(modifier.slice(-1)))
  return ` if it is a ${weekday}, else on the next ${weekday}`
}
