import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calendarSchedule } from '../../../src/scheduling/calendar/calendar-schedule.ts'
import type { CalendarSchedule } from '../../../src/scheduling/schedule.ts'
import { every, type RandomSchedule, randomSchedules } from './random-schedules.ts'

const second = 1_000
const minute = 60_000
const day = 86_400_000

describe('J16: the neighbours of an instant in UTC are those that a walk finds', () => {
  const start = fc.oneof(
    fc.integer({ min: Date.UTC(2023, 0, 1), max: Date.UTC(2033, 0, 1) }),
    // Short months, where days that do not exist carry over.
    fc.integer({ min: Date.UTC(2027, 0, 28), max: Date.UTC(2027, 2, 2) }),
    fc.integer({ min: Date.UTC(2028, 0, 28), max: Date.UTC(2028, 2, 2) }),
    // The beginning and the end of the year.
    fc.integer({ min: Date.UTC(2027, 11, 30), max: Date.UTC(2028, 0, 2) }),
  )

  test.each([
    ['minute by minute', randomSchedules({ seconds: 'zero', language: 'all' }), minute, 70 * day, 500],
    ['second by second', randomSchedules({ seconds: 'any', language: 'all' }), second, 12 * 3_600_000, 120],
  ])('%s', (_, schedules, stepMs, reachMs, numRuns) => {
    fc.assert(
      fc.property(schedules, start, (expected, from) => {
        const schedule = scheduleOrNever(expected, 'UTC')
        const after = walk(expected, from, stepMs, reachMs)
        const before = walk(expected, from, -stepMs, reachMs)
        expectNeighbours(schedule, from, { after, before }, { first: from - reachMs, last: from + reachMs })
      }),
      { numRuns, seed: 1 },
    )
  })

  function walk({ names, namesDay }: RandomSchedule, fromMs: number, stepMs: number, reachMs: number): number | null {
    const size = Math.abs(stepMs)
    let at = stepMs > 0 ? (Math.floor(fromMs / size) + 1) * size : (Math.ceil(fromMs / size) - 1) * size
    while (Math.abs(at - fromMs) <= reachMs) {
      if (namesDay(at)) {
        if (names(at)) return at
        at += stepMs
      } else at = stepMs > 0 ? (Math.floor(at / day) + 1) * day : Math.floor(at / day) * day + stepMs
    }
    return null
  }
})

describe('X13: the neighbours of an instant near a change of clocks are those that a walk finds', () => {
  test.each([
    ['Europe/Paris', '2026-03-29'],
    ['Europe/Paris', '2026-10-25'],
    ['America/New_York', '2026-03-08'],
    ['America/New_York', '2026-11-01'],
    ['America/Santiago', '2026-09-06'],
    ['America/Santiago', '2026-04-05'],
    ['Australia/Lord_Howe', '2026-10-03'],
    ['Australia/Lord_Howe', '2026-04-04'],
    ['Pacific/Apia', '2011-12-30'],
    ['Pacific/Kwajalein', '1969-10-01'],
    ['Africa/Casablanca', '2026-02-15'],
    ['Africa/Casablanca', '2026-03-22'],
    ['America/St_Johns', '2010-03-14'],
    ['America/St_Johns', '2010-11-07'],
    ['Africa/Cairo', '2026-04-24'],
    ['Asia/Beirut', '2026-10-25'],
    ['America/Sao_Paulo', '2018-11-04'],
    ['Antarctica/Troll', '2026-03-29'],
    ['Antarctica/Troll', '2026-10-25'],
    ['Asia/Kolkata', '2026-03-01'],
  ])('in %s around %s', (timezone, date) => {
    const minutes = table(timezone, Date.parse(`${date}T00:00:00Z`) - 1.5 * day, 3 * day)
    const first = minutes[0]?.instant as number
    const last = minutes.at(-1)?.instant as number
    const instants = fc.array(fc.integer({ min: first + day, max: last - 0.5 * day }), { minLength: 5, maxLength: 5 })
    fc.assert(
      fc.property(randomSchedules({ seconds: 'zero', language: 'all' }), instants, (expected, froms) => {
        const { minute: minuteField, hour } = expected.fields
        const isFixed = !`${minuteField} ${hour}`.includes('*')
        const occurrences = isFixed ? fixedOccurrences(expected, minutes) : elapsedOccurrences(expected, minutes)
        const schedule = scheduleOrNever(expected, timezone)
        // An occurrence itself is an instant to ask from, and so are those beside it.
        for (const from of [...froms, ...occurrences.slice(0, 3).flatMap((at) => [at - 1, at, at + 1])]) {
          const after = occurrences.find((at) => at > from) ?? null
          const before = occurrences.findLast((at) => at < from) ?? null
          // What lies before the table may still fall into its first day.
          expectNeighbours(schedule, from, { after, before }, { first: first + day, last })
        }
      }),
      { numRuns: 35, seed: 1 },
    )
  })

  interface Minute {
    readonly instant: number
    readonly wall: number
  }

  function table(timezone: string, fromMs: number, lengthMs: number): Minute[] {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
    return every(fromMs, fromMs + lengthMs, minute).map((instant) => ({
      instant,
      wall: Date.parse(`${format.format(instant).replace(' ', 'T')}Z`),
    }))
  }

  function elapsedOccurrences({ names }: RandomSchedule, minutes: readonly Minute[]): number[] {
    return minutes.filter(({ wall }) => names(wall)).map(({ instant }) => instant)
  }

  /** Walks the clock on the wall: each of its times belongs to the first instant that shows it or a later one. */
  function fixedOccurrences({ names }: RandomSchedule, minutes: readonly Minute[]): number[] {
    const found = new Set<number>()
    let index = 0
    for (let wall = minutes[0]?.wall as number; index < minutes.length; wall += minute) {
      while (index < minutes.length && (minutes[index] as Minute).wall < wall) index++
      const instant = minutes[index]?.instant
      if (instant !== undefined && names(wall)) found.add(instant)
    }
    return [...found]
  }
})

interface Neighbours {
  readonly after: number | null
  readonly before: number | null
}

/** Outside of what was walked there may be anything, but nothing may be found inside that the walk did not find. */
function expectNeighbours(
  schedule: CalendarSchedule | null,
  from: number,
  { after, before }: Neighbours,
  walked: { readonly first: number; readonly last: number },
): void {
  const next = schedule?.next(from) ?? null
  const previous = schedule?.previous(from) ?? null
  if (after === null) expect(next ?? Number.POSITIVE_INFINITY).toBeGreaterThan(walked.last)
  else expect(next).toBe(after)
  if (before === null || before < walked.first) expect(previous ?? Number.NEGATIVE_INFINITY).toBeLessThan(walked.first)
  else expect(previous).toBe(before)
  if (after !== null) expect(schedule?.matches(after)).toBe(true)
}

function scheduleOrNever({ fields }: RandomSchedule, timezone: string): CalendarSchedule | null {
  try {
    return calendarSchedule(fields, timezone)
  } catch (thrown) {
    expect(String(thrown)).toContain('never runs')
    return null
  }
}
