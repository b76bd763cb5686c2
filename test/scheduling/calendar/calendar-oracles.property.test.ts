import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CalendarFields } from '../../../src/scheduling/calendar/calendar-fields.ts'
import { calendarSchedule } from '../../../src/scheduling/calendar/calendar-schedule.ts'
import type { CalendarSchedule } from '../../../src/scheduling/schedule.ts'
import { randomSchedules } from './random-schedules.ts'

/** Another library, asked for the neighbours of a whole second; undefined where it is known to be wrong or not to know. */
type Oracle = (expression: string, timezone: string, fromMs: number) => Neighbours

interface Neighbours {
  readonly after: number | undefined
  readonly before: number | undefined
}

describe('J16: the neighbours of an instant are those that other libraries find', () => {
  test.each<[string, Oracle]>([
    ['croner', askCroner],
    ['cron-parser', askCronParser],
  ])('%s, in UTC over ten years', (_, oracle) => {
    expectAgreement(oracle, 1_000, ({ fields }) => ({ fields, timezone: 'UTC' }))
  })

  // By day, since each library has its own rule for the hours in which clocks change.
  test.each<[string, Oracle]>([
    ['croner', askCroner],
    ['cron-parser', askCronParser],
  ])('%s, by day in zones whose clocks change', (_, oracle) => {
    expectAgreement(oracle, 400, ({ fields, index }) => ({
      fields: { ...fields, hour: '5-20/3' },
      timezone: zones[index % zones.length] as string,
    }))
  })
})

const zones = [
  'Europe/Paris',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'America/St_Johns',
  'Antarctica/Troll',
  'Asia/Kolkata',
  'Pacific/Apia',
]

interface Question {
  readonly fields: CalendarFields
  readonly timezone: string
}

/** The seed is fixed: a stretch of the calendar in which a library errs that nobody has noticed so far proves nothing of us. */
function expectAgreement(
  oracle: Oracle,
  numRuns: number,
  questionOf: (given: { fields: CalendarFields; index: number }) => Question,
) {
  let agreed = 0
  const from = fc.integer({ min: Date.UTC(2023, 0, 1) / 1_000, max: Date.UTC(2033, 0, 1) / 1_000 })
  fc.assert(
    fc.property(randomSchedules({ seconds: 'any', language: 'special' }), from, fc.nat(), (random, second, index) => {
      const { fields, timezone } = questionOf({ fields: random.fields, index })
      const schedule = scheduleOrNever(fields, timezone)
      if (schedule === null) return
      const { after, before } = oracle(schedule.expression, timezone, second * 1_000)
      if (after !== undefined) expect(schedule.next(second * 1_000)).toBe(after)
      if (before !== undefined) expect(schedule.previous(second * 1_000)).toBe(before)
      if (after !== undefined && before !== undefined) agreed++
    }),
    { numRuns, seed: 2_026 },
  )
  expect(agreed).toBeGreaterThan(numRuns / 5)
}

function scheduleOrNever(fields: CalendarFields, timezone: string): CalendarSchedule | null {
  try {
    return calendarSchedule(fields, timezone)
  } catch (thrown) {
    expect(String(thrown)).toContain('never runs')
    return null
  }
}

const unknown: Neighbours = { after: undefined, before: undefined }

function askCroner(expression: string, timezone: string, fromMs: number): Neighbours {
  // It reads LW only where it stands alone.
  if (/LW,|,LW/.test(expression)) return unknown
  const cron = new Cron(expression, { mode: '6-part', timezone })
  const after = cron.nextRun(new Date(fromMs))?.getTime()
  const [before] = cron.previousRuns(1, new Date(fromMs))
  return {
    // From a moment in February it passes over the beginning of March.
    after: after !== undefined && isFebruary(fromMs) && !isFebruary(after) ? undefined : after,
    // Backwards it leaves out the weekday nearest to a day where other days stand beside it.
    before: /,\d+W|\dW,/.test(expression) ? undefined : before?.getTime(),
  }
}

function isFebruary(ms: number): boolean {
  return new Date(ms).getUTCMonth() === 1
}

function askCronParser(expression: string, timezone: string, fromMs: number): Neighbours {
  // It does not know W, and neither L nor # in lists.
  if (/W|[#L],|,\d[#L]|,L|[#L]\d?,/.test(expression)) return unknown
  try {
    const at = () => CronExpressionParser.parse(expression, { currentDate: new Date(fromMs), tz: timezone })
    return { after: at().next().getTime(), before: at().prev().getTime() }
  } catch (thrown) {
    // It refuses a list that names a value twice, such as 1-5,3.
    expect(String(thrown)).toContain('duplicate values')
    return unknown
  }
}
