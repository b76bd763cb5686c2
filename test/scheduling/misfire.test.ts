import { describe, expect, test } from 'vitest'
import { parseCron } from '../../src/scheduling/calendar/cron/cron.ts'
import {
  catchUpLimits,
  defaultMisfire,
  isMissed,
  longestMisfireMs,
  type MisfireKind,
  type MisfireOptions,
  madeUpFor,
  misfirePolicy,
  missedBefore,
} from '../../src/scheduling/misfire.ts'
import { parseRepeat } from '../../src/scheduling/repeating/repeat.ts'

const hourly = parseCron('0 * * * *', 'UTC')
const at = (time: string) => Date.parse(`2027-01-01T${time}Z`)
const minute = 60_000
const day = 86_400_000

describe('X14: a misfire policy', () => {
  test.each([
    ['skip', undefined, { kind: 'skip', withinMs: minute }],
    ['latest', undefined, { kind: 'latest', withinMs: null }],
    ['all', undefined, { kind: 'all', withinMs: day, cap: 100 }],
    ['latest', { within: '4h' }, { kind: 'latest', withinMs: 240 * minute }],
    ['all', { within: '7d', cap: 3 }, { kind: 'all', withinMs: longestMisfireMs, cap: 3 }],
  ] as const)('%s with %o', (kind, options, policy) => {
    expect(misfirePolicy(kind, options)).toEqual(policy)
  })

  test.each([
    ['sometimes', {}, /it is 'skip', 'latest' or 'all', got 'sometimes'/],
    ['all', { within: '8d' }, /within is from 1ms to 7d/],
    ['all', { within: 0 }, /within is from 1ms to 7d/],
    ['all', { cap: 0 }, /cap is a whole number from 1 to 10000, got 0/],
    ['all', { cap: 1.5 }, /cap is a whole number/],
    ['latest', { cap: 5 }, /cap has a meaning with 'all' only/],
    ['all', { windw: '1d' }, /unknown option "windw"/],
  ])('%s with %o is refused', (kind, options, message) => {
    expect(() => misfirePolicy(kind as MisfireKind, options as MisfireOptions)).toThrow(message)
  })

  test('is latest for a calendar, and all for a repeat', () => {
    expect(defaultMisfire(hourly).kind).toBe('latest')
    expect(defaultMisfire(parseRepeat('SCHEDULED, +1 HOUR')).kind).toBe('all')
    expect(catchUpLimits(misfirePolicy('latest'))).toEqual({ withinMs: longestMisfireMs, cap: 1 })
    expect(catchUpLimits(misfirePolicy('all', { within: '1h', cap: 7 }))).toEqual({ withinMs: 60 * minute, cap: 7 })
  })
})

describe('what is made up for', () => {
  test.each([
    ['skip', {}, []],
    ['skip', { within: '20m' }, [at('09:00:00')]],
    ['latest', {}, [at('09:00:00')]],
    ['latest', { within: '20m' }, [at('09:00:00')]],
    ['latest', { within: '19m' }, []],
    ['all', {}, [at('07:00:00'), at('08:00:00'), at('09:00:00')]],
    ['all', { within: '2h' }, [at('08:00:00'), at('09:00:00')]],
    ['all', { cap: 1 }, [at('09:00:00')]],
  ] as const)('%s with %o', (kind, options, instants) => {
    expect(madeUpFor(hourly, misfirePolicy(kind, options), at('06:00:00'), at('09:20:00'))).toEqual(instants)
  })

  test('what was seen is not missed, and what is due now counts', () => {
    const all = misfirePolicy('all')
    expect(madeUpFor(hourly, all, at('09:00:00'), at('09:20:00'))).toEqual([])
    expect(madeUpFor(hourly, all, at('08:00:00'), at('09:00:00'))).toEqual([at('09:00:00')])
    expect(madeUpFor(hourly, all, at('08:30:00'), at('08:59:59'))).toEqual([])
  })
})

describe('what is past its policy', () => {
  test('with latest: what a later one has overtaken', () => {
    const latest = misfirePolicy('latest')
    expect(missedBefore(hourly, latest, at('09:00:00'))).toBe(at('09:00:00'))
    expect(isMissed(hourly, latest, at('08:00:00'), at('08:59:59'))).toBe(false)
    expect(isMissed(hourly, latest, at('08:00:00'), at('09:00:00'))).toBe(true)
    expect(isMissed(hourly, misfirePolicy('latest', { within: '30m' }), at('08:00:00'), at('08:40:00'))).toBe(true)
  })

  test('with skip: what a later one has overtaken, and what is later than it may be', () => {
    const policy = misfirePolicy('skip', { within: '2h' })
    expect(isMissed(hourly, policy, at('08:00:00'), at('08:59:59'))).toBe(false)
    expect(isMissed(hourly, policy, at('08:00:00'), at('09:00:00'))).toBe(true)
  })

  test.each(['skip', 'all'] as const)('with %s: what is later than it may be', (kind) => {
    const policy = misfirePolicy(kind, { within: '10m' })
    expect(isMissed(hourly, policy, at('08:00:00'), at('08:10:00'))).toBe(false)
    expect(isMissed(hourly, policy, at('08:00:00'), at('08:10:00') + 1)).toBe(true)
  })
})
