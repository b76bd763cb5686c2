import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../src/scheduling/cron.ts'

const second = 1_000
const minute = 60_000
const day = 86_400_000

/** A field as text, with the values that it stands for, worked out apart from the parser. */
interface Field {
  readonly text: string
  readonly values: ReadonlySet<number>
}

function field(lowest: number, highest: number): fc.Arbitrary<Field> {
  const value = fc.integer({ min: lowest, max: highest })
  const range = fc.tuple(value, value).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
  const step = fc.integer({ min: 1, max: highest - lowest })
  const item = fc.oneof(
    value.map((one) => ({ text: `${one}`, values: every(one, one, 1) })),
    range.map(([from, to]) => ({ text: `${from}-${to}`, values: every(from, to, 1) })),
    fc.tuple(range, step).map(([[from, to], by]) => ({ text: `${from}-${to}/${by}`, values: every(from, to, by) })),
    step.map((by) => ({ text: `*/${by}`, values: every(lowest, highest, by) })),
  )
  return fc.oneof(
    fc.constant({ text: '*', values: new Set(every(lowest, highest, 1)) }),
    fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => ({
      text: items.map(({ text }) => text).join(','),
      values: new Set(items.flatMap(({ values }) => values)),
    })),
  )
}

function every(from: number, to: number, by: number): number[] {
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by)
}

interface Expression {
  readonly second: Field
  readonly minute: Field
  readonly hour: Field
  readonly dayOfMonth: Field
  readonly month: Field
  readonly dayOfWeek: Field
}

const anySecond = field(0, 59)
const secondZero = fc.constant<Field>({ text: '0', values: new Set([0]) })

function expressions(seconds: fc.Arbitrary<Field>): fc.Arbitrary<Expression> {
  return fc.record({
    second: seconds,
    minute: field(0, 59),
    hour: field(0, 23),
    dayOfMonth: field(1, 31),
    month: field(1, 12),
    dayOfWeek: field(0, 7),
  })
}

function textOf(e: Expression): string {
  return [e.second, e.minute, e.hour, e.dayOfMonth, e.month, e.dayOfWeek].map(({ text }) => text).join(' ')
}

function matchesDay(e: Expression, wall: Date): boolean {
  const inMonth = e.dayOfMonth.values.has(wall.getUTCDate())
  const weekday = wall.getUTCDay()
  const inWeek = e.dayOfWeek.values.has(weekday) || (weekday === 0 && e.dayOfWeek.values.has(7))
  const isUnion = e.dayOfMonth.text !== '*' && e.dayOfWeek.text !== '*'
  return e.month.values.has(wall.getUTCMonth() + 1) && (isUnion ? inMonth || inWeek : inMonth && inWeek)
}

function matches(e: Expression, wallMs: number): boolean {
  const wall = new Date(wallMs)
  const inDay =
    e.second.values.has(wall.getUTCSeconds()) &&
    e.minute.values.has(wall.getUTCMinutes()) &&
    e.hour.values.has(wall.getUTCHours())
  return inDay && matchesDay(e, wall)
}

function parseOrNever(e: Expression, timezone: string) {
  try {
    return parseCron(textOf(e), timezone)
  } catch (thrown) {
    expect(String(thrown)).toContain('never runs')
    return null
  }
}

describe('J16: the next occurrence in UTC is the one that a walk finds', () => {
  const start = fc.oneof(
    fc.integer({ min: Date.UTC(2023, 0, 1), max: Date.UTC(2032, 0, 1) }),
    // Short months, where days that do not exist carry over.
    fc.integer({ min: Date.UTC(2027, 0, 28), max: Date.UTC(2027, 2, 1) }),
    fc.integer({ min: Date.UTC(2028, 0, 28), max: Date.UTC(2028, 2, 1) }),
  )

  test.each([
    ['minute by minute', secondZero, minute, 70 * day],
    ['second by second', anySecond, second, 36 * 3_600_000],
  ])('%s', (_, seconds, stepMs, reachMs) => {
    fc.assert(
      fc.property(expressions(seconds), start, (e, afterMs) => {
        const found = parseOrNever(e, 'UTC')?.next(afterMs) ?? null
        const walked = walk(e, afterMs, stepMs, reachMs)
        if (walked === null) expect(found ?? Number.POSITIVE_INFINITY).toBeGreaterThan(afterMs + reachMs)
        else expect(found).toBe(walked)
      }),
      { numRuns: 1_000 },
    )
  })

  function walk(e: Expression, afterMs: number, stepMs: number, reachMs: number): number | null {
    for (let at = (Math.floor(afterMs / stepMs) + 1) * stepMs; at <= afterMs + reachMs; at += stepMs) {
      if (!matchesDay(e, new Date(at))) at = (Math.floor(at / day) + 1) * day - stepMs
      else if (matches(e, at)) return at
    }
    return null
  }
})

describe('X13: the next occurrence across a change of clocks is the one that a walk finds', () => {
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
    ['Asia/Kolkata', '2026-03-01'],
  ])('in %s around %s', (timezone, date) => {
    const days = table(timezone, Date.parse(`${date}T00:00:00Z`) - 2 * day, 4 * day)
    const firstMs = days[0]?.instant as number
    const lastMs = days.at(-1)?.instant as number
    const afterMs = fc.integer({ min: firstMs + day, max: lastMs - day })
    fc.assert(
      fc.property(expressions(secondZero), afterMs, (e, after) => {
        const found = parseOrNever(e, timezone)?.next(after) ?? null
        const isFixed = ![e.minute, e.hour].some(({ text }) => text.includes('*'))
        const walked = isFixed ? walkFixed(e, days, after) : walkElapsed(e, days, after)
        if (walked === null) expect(found ?? Number.POSITIVE_INFINITY).toBeGreaterThan(lastMs)
        else expect(found).toBe(walked)
      }),
      { numRuns: 300 },
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

  function walkElapsed(e: Expression, minutes: readonly Minute[], after: number): number | null {
    return minutes.find(({ instant, wall }) => instant > after && matches(e, wall))?.instant ?? null
  }

  /** Walks the clock on the wall: each of its times belongs to the first instant that shows it or a later one. */
  function walkFixed(e: Expression, minutes: readonly Minute[], after: number): number | null {
    let index = 0
    for (let wall = minutes[0]?.wall as number; index < minutes.length; wall += minute) {
      while (index < minutes.length && (minutes[index] as Minute).wall < wall) index++
      const instant = minutes[index]?.instant
      if (instant !== undefined && instant > after && matches(e, wall)) return instant
    }
    return null
  }
})
