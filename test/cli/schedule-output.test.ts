import { describe, expect, it } from 'vitest'
import type { DryRunReport } from '../../src/cli/dry-run.ts'
import { explained, isExpression, mergedRuns, parseExpression } from '../../src/cli/next-runs.ts'
import { dryRunText } from '../../src/cli/output/dry-run.ts'
import { explainedText, mergedText } from '../../src/cli/output/next-runs.ts'
import { Output } from '../../src/cli/output/output.ts'
import { scheduleNotes, scheduleTable, shortScheduleTable } from '../../src/cli/output/schedules.ts'
import { isWorthALine, tickJson, tickLine } from '../../src/cli/output/ticks.ts'
import { startText, stoppedText } from '../../src/cli/output/work-frame.ts'
import { eventJson, eventLine, isTrouble } from '../../src/cli/output/work-log.ts'
import type { ScheduleStatus } from '../../src/cli/schedules.ts'
import { parseCron } from '../../src/scheduling/calendar/cron.ts'

function output(columns?: number): Output {
  const stream = { write: () => {}, isTTY: columns !== undefined, ...(columns !== undefined && { columns }) }
  return new Output({ json: false, colour: false, stdout: stream, stderr: stream })
}

const out = output()
const now = Date.UTC(2026, 5, 10, 9)
const hour = 3_600_000

describe('an expression', () => {
  it('is told from the name of a schedule', () => {
    for (const text of ['30 2 * * *', '@daily', 'FINISHED, +1 HOUR', 'FINISHED,+1 HOUR', 'DAILY'])
      expect(isExpression(text)).toBe(true)
    for (const text of ['digest', 'send-email', 'daily', 'a.b:c', 'mail@home']) expect(isExpression(text)).toBe(false)
  })

  it('of cron is read in the zone, and a repeat in UTC', () => {
    expect(parseExpression('30 2 * * *', 'Europe/Paris')).toMatchObject({ kind: 'calendar', timezone: 'Europe/Paris' })
    expect(parseExpression('@daily')).toMatchObject({ kind: 'calendar', timezone: 'UTC' })
    expect(parseExpression('finished, +1 hour', 'Europe/Paris')).toMatchObject({ kind: 'repeat', timezone: 'UTC' })
    expect(parseExpression('HOURLY')).toMatchObject({ kind: 'repeat' })
  })
})

describe('the next runs', () => {
  it('of a schedule stand below its meaning, in its own zone and in another, with what a change of clocks does', () => {
    const schedule = explained(parseCron('30 2 * * *', 'Europe/Paris'), {
      from: Date.UTC(2027, 2, 27, 12),
      count: 2,
      zone: 'Asia/Tokyo',
    })
    const lines = explainedText(schedule, out, { zone: 'Asia/Tokyo', now: Date.UTC(2027, 2, 27, 12) }).split('\n')
    expect(lines.slice(0, 2)).toEqual(['At 02:30, Europe/Paris time', '0 30 2 * * *  Europe/Paris'])
    expect(lines.filter((line) => line.startsWith('! '))).toHaveLength(schedule.warnings.length)
    expect(lines.slice(-3).map((line) => line.trimEnd())).toEqual([
      'NEXT RUN                    Asia/Tokyo                  FROM NOW  NOTE',
      expect.stringMatching(
        /^2027-03-28 03:00:00 \+02:00 {2}2027-03-28 10:00:00 \+09:00 {2}in 13h {4}02:30 is skipped on this day/,
      ),
      '2027-03-29 02:30:00 +02:00  2027-03-29 09:30:00 +09:00  in 1d12h',
    ])
  })

  it('of a repeat are estimates, which is said once', () => {
    const text = explainedText(explained(parseExpression('FINISHED, +1 HOUR'), { from: now, count: 3 }), out, { now })
    expect(text.match(/estimate/g)).toHaveLength(1)
    expect(text).toContain('2026-06-10 10:00:00 +00:00  in 1h\n')
  })

  it('of several schedules come in the order of time, and no more than were asked for', () => {
    const schedules = [
      ['noon', parseCron('0 12 * * *', 'UTC')],
      ['hourly', parseCron('30 * * * *', 'Europe/Paris')],
    ] as const
    const runs = mergedRuns(schedules, { from: now, count: 4 })
    expect(runs.map(({ schedule, at }) => [schedule, at.slice(11, 16)])).toEqual([
      ['hourly', '09:30'],
      ['hourly', '10:30'],
      ['hourly', '11:30'],
      ['noon', '12:00'],
    ])
    expect(mergedText(runs, out, { now }).split('\n')[1]).toBe('hourly    2026-06-10 11:30:00 +02:00  in 30m')
    expect(mergedText([], out, { now })).toBe('no runs to come')
  })
})

describe('a table of schedules', () => {
  const digest: ScheduleStatus = {
    schedule: 'digest',
    state: 'active',
    expression: '0 30 2 * * 1-5',
    timezone: 'Europe/Paris',
    text: 'At 02:30 from Monday to Friday, Europe/Paris time',
    last: { at: new Date(now - 7 * hour).toISOString(), jobId: 'x', outcome: 'dead', startedAt: null, finishedAt: null },
    nextAt: new Date(now + hour).toISOString(),
  }
  const old: ScheduleStatus = { ...digest, schedule: 'old', state: 'not in code', text: null, last: null, nextAt: null }

  it('tells state, last outcome, next run and the meaning', () => {
    const [head, first, second] = scheduleTable([digest, old], out, now).split('\n')
    expect(head?.split(/ {2,}/)).toEqual(['SCHEDULE', 'EXPRESSION', 'ZONE', 'STATE', 'LAST', 'NEXT RUN', 'AT', 'MEANS'])
    expect(first).toMatch(/^digest .* active {7}7h ago, dead {2}in 1h {5}\d{4}-\S+ \S+ {2}At 02:30 from Monday to Friday/)
    expect(second).toMatch(/^old .* not in code {2}- +- +-$/)
    expect(shortScheduleTable([digest], out, now)).not.toContain('MEANS')
  })

  it('keeps state and name where there is little room', () => {
    for (const width of [100, 80, 60, 40, 24]) {
      const lines = scheduleTable([digest, old], output(width), now).split('\n')
      expect(lines[1]).toMatch(/digest.*active/)
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width)
    }
    expect(scheduleTable([digest], output(80), now)).toMatch(/^digest .* active {2}7h ago, dead {2}in 1h/m)
    expect(scheduleTable([old], output(12), now)).toBe('STATE\nnot in code')
  })

  it('is followed by what a person should do', () => {
    const last = { at: new Date(now - hour).toISOString(), jobId: 'x', outcome: null, startedAt: null, finishedAt: null }
    expect(scheduleNotes([{ ...digest, last }, old], now)).toEqual([
      'Scheduled runs that nobody has begun: digest. Does a worker run?',
      'Not in the code any more: old. To remove one: treadle forget NAME',
    ])
    const running = { ...last, startedAt: last.at }
    expect(scheduleNotes([{ ...digest, last: running }], now)).toEqual([])
    expect(scheduleTable([{ ...digest, last: running }], out, now)).toContain('1h ago, running')
  })
})

describe('a dry run', () => {
  const report: DryRunReport = {
    at: '2026-06-10T09:00:00.123Z',
    missingDatabase: null,
    schedules: [],
    due: { count: 1, isExact: true },
  }
  const run = (why: 'missed' | 'current' | 'next', at: number, stored = false) => ({
    at: new Date(at).toISOString(),
    local: '2026-06-10 11:00:00 +02:00',
    why,
    stored,
  })

  it('says of each run what would become of it, and of each schedule that is left out why', () => {
    const text = dryRunText(
      {
        ...report,
        missingDatabase: '/x/jobs.db',
        schedules: [
          {
            schedule: 'a',
            leftOut: null,
            occurrences: [run('missed', now - hour), run('current', now), run('next', now + hour), run('next', now + hour, true)],
          },
          { schedule: 'b', leftOut: null, occurrences: [run('current', now + hour)] },
          { schedule: 'c', leftOut: 'environment', occurrences: [] },
          { schedule: 'd', leftOut: null, occurrences: [] },
        ],
      },
      out,
      now,
    ).split('\n')
    expect(text[0]).toBe('a pass at 2026-06-10T09:00:00Z would do this; nothing is written')
    expect(text[1]).toBe('there is no database yet: a pass would make /x/jobs.db')
    expect(text.slice(4, 11).map((line) => line.replace(/^(\w).*(?:Z|-) {2,}/, '$1 '))).toEqual([
      'a missed: would be made up for now',
      'a due: would be stored and run now',
      'a next: would be stored for then',
      'a stored already',
      'b would be stored for then',
      'c left out: for another environment',
      'd nothing to store',
    ])
    expect(text.at(-1)).toBe('1 job in the queue is due and would be run')
  })

  it('does not claim to know how many jobs are due where it can not', () => {
    const text = dryRunText({ ...report, due: { count: 7, isExact: false } }, out, now)
    expect(text).toContain('no schedules\n\nat least 7 jobs in the queue are due and would be run')
  })
})

describe('a worker', () => {
  const tick = { plannedAt: now, startedAt: now + 1, endedAt: now + 11, enqueued: 2, nextAt: now + hour }
  const run = { id: 'x', job: 'report', name: 'report', queue: 'default', attempt: 1 }

  it('gives a line to a tick that did something or took too long (Y17)', () => {
    expect(isWorthALine(tick, 60_000)).toBe(true)
    expect(isWorthALine({ ...tick, enqueued: 0 }, 60_000)).toBe(false)
    expect(isWorthALine({ ...tick, enqueued: 0 }, 5)).toBe(true)
    expect(tickLine(tick, 60_000, out.colours)).toMatch(/^· tick 2026-\S+ \S+ {2}2 runs stored, next 2026-\S+ \S+$/)
    expect(tickLine({ ...tick, enqueued: 0, nextAt: null }, 5, out.colours)).toMatch(
      /^! tick \S+ \S+ {2}nothing new; it took 10ms, longer than the tick$/,
    )
    expect(JSON.parse(tickJson(tick))).toMatchObject({
      event: 'schedule:tick',
      enqueued: 2,
      plannedAt: '2026-06-10T09:00:00.000Z',
    })
  })

  it('tells of missed runs and of runs that do not stop, also when it is quiet', () => {
    const missed = { schedule: 'digest', madeUp: [now, now + hour], skipped: 1 }
    expect(eventLine('schedule:missed', missed, out.colours)).toMatch(
      /^! digest was due while nobody was there: 2 runs made up for \(due \S+ \S+ to \S+ \S+\), 1 run left out$/,
    )
    expect(eventLine('schedule:missed', { ...missed, madeUp: [] }, out.colours)).toMatch(/nobody was there: 1 run left out$/)
    expect(JSON.parse(eventJson('schedule:missed', missed, now))).toMatchObject({
      schedule: 'digest',
      madeUp: ['2026-06-10T09:00:00.000Z', '2026-06-10T10:00:00.000Z'],
    })
    expect(eventLine('job:overrun', { ...run, overrunMs: 90_000 }, out.colours)).toBe(
      '! report x was told to stop 1m30s ago and still runs',
    )
    expect([isTrouble('schedule:missed'), isTrouble('job:overrun'), isTrouble('job:succeeded')]).toEqual([true, true, false])
  })

  it('says how it follows schedules, and at the end of a daemon how well it kept time (Y17)', () => {
    const started = { url: 'sqlite:x', config: null, queues: null, jobs: ['a'], concurrency: 10, schedules: 3 } as const
    expect(startText({ ...started, scheduler: true })).toMatch(/schedules {4}3$/)
    expect(startText({ ...started, scheduler: false })).toMatch(/schedules {4}not followed here$/)
    expect(startText({ ...started, scheduler: 'single', tickMs: 60_000 })).toMatch(
      /schedules {4}3, followed by one scheduler at a time\n {2}tick {9}1m$/,
    )
    const report = { enqueued: 1, succeeded: 0, retried: 0, snoozed: 0, dead: 0, cancelled: 0, skipped: 0, lost: 0, released: 0 }
    expect(stoppedText(report)).toBe('stopped: 1 put into the queue by schedules')
    const summary = { ticks: 9, overruns: 2, missedTicks: 1, clockJumps: 1, longestMs: 1_500, latestMs: 3 }
    expect(
      stoppedText({ ...report, ...summary })
        .split('\n')
        .slice(1),
    ).toEqual([
      '  ticks         9',
      '  overruns      2, which took longer than the tick',
      '  missed ticks  1',
      '  clock         1 jump',
      '  longest tick  1s500ms',
      '  latest start  3ms after its time',
    ])
  })
})
