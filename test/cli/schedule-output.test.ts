import { describe, expect, it } from 'vitest'
import type { CheckedJob, CheckReport } from '../../src/cli/check.ts'
import { checkText } from '../../src/cli/output/check.ts'
import { ToldWaits } from '../../src/cli/output/jobs/told-waits.ts'
import { Output } from '../../src/cli/output/output.ts'
import { dryRunText } from '../../src/cli/output/schedules/dry-run.ts'
import { explainedText, laterNote, mergedText } from '../../src/cli/output/schedules/next-runs.ts'
import { scheduleNotes, scheduleTable, shortScheduleTable } from '../../src/cli/output/schedules/schedules.ts'
import { isWorthALine, tickJson, tickLine } from '../../src/cli/output/schedules/ticks.ts'
import { startText, stoppedText } from '../../src/cli/output/workers/work-frame.ts'
import { eventJson, eventLine, isTrouble } from '../../src/cli/output/workers/work-log.ts'
import type { DryRunReport } from '../../src/cli/schedules/dry-run.ts'
import { explained, mergedRuns } from '../../src/cli/schedules/next-runs.ts'
import { isExpression, parseExpression } from '../../src/cli/schedules/schedule-expression.ts'
import type { LastRun, ScheduleStatus } from '../../src/cli/schedules/schedules.ts'
import { parseCron } from '../../src/scheduling/calendar/cron/cron.ts'

function output(columns?: number): Output {
  const stream = { write: () => {}, isTTY: columns !== undefined, ...(columns !== undefined && { columns }) }
  return new Output({ json: false, colour: false, stdout: stream, stderr: stream })
}

const out = output()
const now = Date.UTC(2026, 5, 10, 9)
const hour = 3_600_000

describe('an expression', () => {
  it('is told from the name of a schedule', () => {
    for (const text of ['30 2 * * *', '@daily', 'FINISHED, +1 HOUR', 'FINISHED,+1 HOUR', 'DAILY', 'EVERY_DAY'])
      expect(isExpression(text)).toBe(true)
    for (const text of ['digest', 'send-email', 'daily', 'a.b:c', 'mail@home']) expect(isExpression(text)).toBe(false)
  })

  it('of cron is read in the zone, and a repeat in UTC', () => {
    expect(parseExpression('30 2 * * *', 'Europe/Paris')).toMatchObject({ kind: 'calendar', timezone: 'Europe/Paris' })
    expect(parseExpression('@daily')).toMatchObject({ kind: 'calendar', timezone: 'UTC' })
    expect(parseExpression('finished, +1 hour', 'Europe/Paris')).toMatchObject({ kind: 'repeat', timezone: 'UTC' })
    expect(parseExpression('HOURLY')).toMatchObject({ kind: 'repeat' })
    expect(parseExpression('EVERY_DAY', 'Europe/Paris')).toMatchObject({ expression: '0 10 2 * * *', timezone: 'Europe/Paris' })
  })
})

describe('the next runs', () => {
  it('of a schedule stand below its meaning, in its own zone and in another, with what a change of clocks does', () => {
    const wanted = { from: Date.UTC(2027, 2, 27, 12), count: 2, zone: 'Asia/Tokyo' }
    const schedule = explained(parseCron('30 2 * * *', 'Europe/Paris'), wanted, { kind: 'unknown' })
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

  it('of a repeat that has never run begin at once; the others are estimates, which is said once', () => {
    const repeat = explained(parseExpression('FINISHED, +1 HOUR'), { from: now + 500, count: 3 }, { kind: 'never run' })
    const text = explainedText(repeat, out, { now: now + 500 })
    expect(text.match(/estimate/g)).toHaveLength(1)
    expect(text).toContain('It first runs as soon as a scheduler sees it')
    expect(text).toContain('2026-06-10 09:00:00 +00:00  now\n2026-06-10 10:00:00 +00:00  in 59m59s\n')
    expect(repeat.runs.map(({ note }) => note === null)).toEqual([true, false, false])
  })

  it('of a repeat go on from the run that is known to come, and from now where none is', () => {
    const from = (standing: Parameters<typeof explained>[2]) => {
      const { beginsAtOnce, runs } = explained(parseExpression('HOURLY'), { from: now, count: 2 }, standing)
      return [beginsAtOnce, ...runs.map(({ at }) => at.slice(11, 16))]
    }
    expect(from({ kind: 'next', at: now + hour / 4 })).toEqual([false, '09:15', '10:15'])
    expect(from({ kind: 'next', at: now - hour })).toEqual([false, '10:00', '11:00'])
    expect(from({ kind: 'unknown' })).toEqual([false, '10:00', '11:00'])
  })

  it('from another time are not told by how far from now they are', () => {
    const from = new Date(now - 100 * 24 * hour)
    const noon = parseCron('0 12 * * *', 'UTC')
    const schedule = explained(noon, { from: from.getTime(), count: 1 }, { kind: 'unknown' })
    expect(explainedText(schedule, out, { from, now })).toMatch(/NEXT RUN\n2026-03-02 12:00:00 \+00:00$/)
    const later = { schedule: 'noon', nextAt: '2026-06-10T12:00:00Z' } as ScheduleStatus
    expect(laterNote([later], { from, now })).toEqual(['note: later: noon; --count shows more'])
    expect(laterNote([later], { now })).toEqual(['note: later: noon (in 3h); --count shows more'])
  })

  it('stand below warnings that are as wide as the terminal', () => {
    const schedule = explained(parseCron('*/7 * * * *', 'UTC'), { from: now, count: 1 }, { kind: 'unknown' })
    const lines = explainedText(schedule, output(50), { now }).split('\n')
    expect(schedule.warnings.length).toBeGreaterThan(0)
    expect(lines[2]).toMatch(/^! /)
    expect(lines[3]).toMatch(/^ {2}\S/)
    expect(Math.max(...lines.slice(2).map(({ length }) => length))).toBeLessThanOrEqual(50)
  })

  it('of several schedules come in the order of time, and no more than were asked for', () => {
    const standing = { kind: 'unknown' } as const
    const schedules = [
      { name: 'noon', schedule: parseCron('0 12 * * *', 'UTC'), standing },
      { name: 'hourly', schedule: parseCron('30 * * * *', 'Europe/Paris'), standing },
    ]
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

function lastRun(state: LastRun['state'], agoMs: number, runAt: number | null = null): LastRun {
  const dueAt = runAt === null ? null : new Date(runAt).toISOString()
  return { at: new Date(now + agoMs).toISOString(), jobId: 'x', state, runAt: dueAt, startedAt: null, finishedAt: null }
}

describe('a table of schedules', () => {
  const digest: ScheduleStatus = {
    schedule: 'digest',
    state: 'active',
    expression: '0 30 2 * * 1-5',
    timezone: 'Europe/Paris',
    job: 'digest',
    key: null,
    limits: { timeout: '30s', maxRunningTime: null, concurrency: 3 },
    rules: { overlap: 'skip', misfire: 'latest' },
    text: 'At 02:30 from Monday to Friday, Europe/Paris time',
    last: lastRun('dead', -7 * hour),
    beginsAtOnce: false,
    nextAt: new Date(now + hour).toISOString(),
  }
  const old: ScheduleStatus = { ...digest, schedule: 'old', state: 'not in code', text: null, last: null, nextAt: null }

  it('tells state, last outcome, next run and the meaning', () => {
    const [head, first, second] = scheduleTable([digest, old], out, now).split('\n')
    expect(head?.split(/ {2,}/)).toEqual([
      'SCHEDULE',
      'EXPRESSION',
      'ZONE',
      'STATE',
      'LAST',
      'NEXT RUN',
      'AT',
      'OVERLAP',
      'MISFIRE',
      'LIMITS',
      'MEANS',
    ])
    expect(first).toMatch(
      /^digest .* active {7}7h ago, dead {2}in 1h {5}2026-06-10 12:00:00 \+02:00 {2}skip {5}latest {3}timeout 30s, concurrency 3 {2}At 02:30 from Monday to Friday/,
    )
    expect(second).toMatch(/^old .* not in code {2}- +- +- +skip +latest +timeout 30s, concurrency 3$/)
    expect(shortScheduleTable([digest], out, now)).not.toContain('MEANS')
  })

  it('keeps state and name where there is little room', () => {
    for (const width of [100, 80, 60, 40, 24]) {
      const lines = scheduleTable([digest, old], output(width), now).split('\n')
      expect(lines[1]).toMatch(/digest.*active/)
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width)
    }
    expect(scheduleTable([digest], output(80), now)).toMatch(
      /^digest {4}0 30 2 \* \* 1-5 {2}Europe\/Paris {2}active {2}7h ago, dead {2}in 1h/m,
    )
    expect(scheduleTable([digest], output(66), now)).toMatch(/^digest {4}Europe\/Paris {2}active/m)
    expect(scheduleTable([old], output(12), now)).toBe('STATE\nnot in code')
  })

  it('is followed by what a person should do', () => {
    const last = lastRun('waits', -hour, now - hour)
    expect(scheduleNotes([{ ...digest, last }, old], now)).toEqual([
      'Overdue scheduled runs: digest. Is a worker running?',
      'No longer in the code: old. To remove one: treadle forget NAME',
    ])
    for (const going of [lastRun('running', -hour), lastRun('retrying', -hour, now - hour), lastRun('waits', -hour, now)])
      expect(scheduleNotes([{ ...digest, last: going }], now)).toEqual([])
    expect(scheduleTable([{ ...digest, last: lastRun('running', -hour) }], out, now)).toContain('1h ago, running')
  })

  it('says of a repeat that has never run that it begins at once, where it is followed', () => {
    const repeat = { ...digest, expression: 'FINISHED, +1 HOUR', last: null, nextAt: null, beginsAtOnce: true }
    expect(scheduleTable([repeat], out, now)).toMatch(/ active {2}- {5}at once {3}- /)
    expect(scheduleTable([{ ...repeat, state: 'paused' }], out, now)).not.toContain('at once')
  })
})

describe('a dry run', () => {
  const report: DryRunReport = {
    at: '2026-06-10T08:59:59.876Z',
    missingDatabase: null,
    schedules: [],
    waiting: { count: 1, isExact: true },
  }
  const run = (why: 'missed' | 'current' | 'next', at: number, stored = false) => ({
    at: new Date(at).toISOString(),
    local: '2026-06-10 11:00:00 +02:00',
    why,
    isDue: at <= now,
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
            isRunHere: true,
            occurrences: [run('missed', now - hour), run('current', now), run('next', now + hour), run('next', now + hour, true)],
          },
          { schedule: 'b', leftOut: null, isRunHere: false, occurrences: [run('current', now + hour), run('current', now)] },
          { schedule: 'c', leftOut: 'environment', isRunHere: true, occurrences: [] },
          { schedule: 'd', leftOut: null, isRunHere: true, occurrences: [] },
        ],
      },
      out,
      now,
    ).split('\n')
    expect(text[0]).toBe('dry run of a pass at 2026-06-10T08:59:59Z; nothing is written')
    expect(text[1]).toBe('there is no database yet: a pass would create /x/jobs.db')
    expect(text.slice(4, 12).map((line) => line.replace(/^(\w).*(?:Z|-) {2,}/, '$1 '))).toEqual([
      'a missed: run now',
      'a due: run now',
      'a next: stored ahead',
      'a stored already',
      'b stored ahead',
      'b due: left to others',
      'c left out: for another environment',
      'd nothing to store',
    ])
    expect(text.slice(-2)).toEqual([
      '5 runs would be queued, 2 of them to run now',
      '1 job waits in the queue already and would be run too',
    ])
  })

  it('keeps the time and the reason where there is little room', () => {
    const schedule = { schedule: 'nightly-report', leftOut: null, isRunHere: false, occurrences: [run('current', now)] }
    const lines = dryRunText({ ...report, schedules: [schedule] }, output(50), now).split('\n')
    expect(lines[3]).toBe('nightly…  2026-06-10 11:00:00 +02:00  due: left t…')
  })

  it('at a time that a pass would refuse says so', () => {
    const at = (ms: number) => dryRunText({ ...report, at: new Date(ms).toISOString() }, out, now).split('\n')[1]
    expect(at(now - 8 * 24 * hour)).toBe('only a dry run accepts this time: a real pass takes one within the last 7 days')
    expect(at(now + hour)).toContain('only a dry run')
    expect(at(now - 6 * 24 * hour)).toBe('')
  })

  it('does not claim to know how many jobs are due where it cannot', () => {
    const text = dryRunText({ ...report, waiting: { count: 7, isExact: false } }, out, now)
    expect(text).toContain('no run would be queued\nat least 7 jobs wait in the queue already and would be run too')
    const none = dryRunText({ ...report, waiting: { count: 0, isExact: true } }, out, now)
    expect(none).toMatch(/\nno job is waiting in the queue$/)
  })
})

describe('a worker', () => {
  const tick = { plannedAt: now, startedAt: now + 1, endedAt: now + 11, enqueued: 2, failed: 0, nextAt: now + hour }
  const run = { id: 'x', job: 'report', name: 'report', queue: 'default', attempt: 1 }

  it('gives a line to a tick that did something or took too long (Y17)', () => {
    expect(isWorthALine(tick, 60_000)).toBe(true)
    expect(isWorthALine({ ...tick, enqueued: 0 }, 60_000)).toBe(false)
    expect(isWorthALine({ ...tick, enqueued: 0 }, 5)).toBe(true)
    expect(tickLine(tick, 60_000, out.colours)).toMatch(/^· tick 2026-\S+ \S+ {2}2 runs stored, next 2026-\S+ \S+$/)
    expect(tickLine({ ...tick, enqueued: 0, nextAt: null }, 5, out.colours)).toMatch(
      /^! tick \S+ \S+ {2}nothing new; it took 10ms, longer than the tick$/,
    )
    const failing = { ...tick, enqueued: 0, failed: 1, nextAt: null }
    expect(isWorthALine(failing, 60_000)).toBe(true)
    expect(tickLine(failing, 60_000, out.colours)).toMatch(/^! tick \S+ \S+ {2}nothing new; 1 could not be stored$/)
    expect(JSON.parse(tickJson(tick))).toMatchObject({
      event: 'schedule:tick',
      enqueued: 2,
      plannedAt: '2026-06-10T09:00:00.000Z',
    })
  })

  it('tells of missed runs and of runs that do not stop, also when it is quiet', () => {
    const missed = { schedule: 'digest', madeUp: [now, now + hour], leftOut: 1 }
    expect(eventLine('schedule:missed', missed, out.colours)).toMatch(
      /^! digest was due while no scheduler was running: 2 runs caught up \(due 2026-06-10T09:00:00Z to 2026-06-10T10:00:00Z\), 1 left out$/,
    )
    const line = (leftOut: number) => eventLine('schedule:missed', { ...missed, madeUp: [], leftOut }, out.colours)
    expect(line(999)).toMatch(/no scheduler was running: 999 left out$/)
    expect(line(1_000)).toMatch(/no scheduler was running: 1,000 or more left out$/)
    expect(JSON.parse(eventJson('schedule:missed', missed, now))).toMatchObject({
      schedule: 'digest',
      madeUp: ['2026-06-10T09:00:00.000Z', '2026-06-10T10:00:00.000Z'],
    })
    expect(eventLine('job:overrun', { ...run, overrunMs: 90_000 }, out.colours)).toBe(
      '! report x was asked to stop 1m30s ago and is still running',
    )
    expect([isTrouble('schedule:missed'), isTrouble('job:overrun'), isTrouble('job:succeeded')]).toEqual([true, true, false])
  })

  it('says why a run waits once for each reason, and not each time that it asks', () => {
    const waits = (why: string | null) => ({ ...run, delayMs: 1_000, why })
    expect(eventLine('job:snoozed', waits('waits for "extract"'), out.colours)).toBe('- report x waits for "extract"')
    expect(eventLine('job:snoozed', waits(null), out.colours)).toBe('- report x snoozed for 1s')
    const told = new ToldWaits()
    const news = (why: string | null) => told.isNews('job:snoozed', waits(why))
    expect([news('a'), news('a'), news('b'), news('b'), news('a')]).toEqual([true, false, true, false, true])
    expect([news(null), news(null)]).toEqual([true, true])
    expect([news('a'), told.isNews('job:cancelled', run), news('a')]).toEqual([true, true, true])
    expect(told.isNews('schedule:missed', { schedule: 'digest', madeUp: [], leftOut: 1 })).toBe(true)
  })

  it('says how it follows schedules, and at the end of a daemon how well it kept time (Y17)', () => {
    const started = { url: 'sqlite:x', config: null, queues: null, jobs: ['a'], concurrency: 10, schedules: 3 } as const
    expect(startText({ ...started, scheduler: true })).toMatch(/schedules {4}3$/)
    expect(startText({ ...started, scheduler: false })).toMatch(/schedules {4}not followed here$/)
    expect(startText({ ...started, scheduler: 'single', tickMs: 60_000 })).toMatch(
      /schedules {4}3, followed by one scheduler at a time\n {2}tick {9}1m$/,
    )
    const report = {
      enqueued: 1,
      failedSchedules: 0,
      succeeded: 0,
      retried: 0,
      snoozed: 0,
      waiting: 0,
      dead: 0,
      cancelled: 0,
      skipped: 0,
      lost: 0,
      released: 0,
    }
    expect(stoppedText(report)).toBe('stopped: 1 queued by schedules')
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

describe('a check', () => {
  const plain: CheckedJob = {
    job: 'nightly-report',
    queue: 'reports',
    retries: 3,
    schedule: '0 30 2 * * *',
    timezone: 'Europe/Paris',
    enabled: true,
    environments: ['production'],
    nextAt: new Date(now + hour).toISOString(),
    isRepeat: false,
    limits: { timeout: null, maxRunningTime: '1h', concurrency: 1 },
    rules: { overlap: 'queue', misfire: 'all within 1d, at most 100' },
  }
  const report: CheckReport = { config: null, url: 'memory:', files: [], jobs: [plain], problems: [], warnings: [] }

  it('tells the next run on the clock of the schedule, and that of a repeat comes at once', () => {
    const repeat = { ...plain, job: 'sync', schedule: 'FINISHED, +1 HOUR', timezone: 'UTC', nextAt: null, isRepeat: true }
    const lines = checkText({ ...report, jobs: [plain, repeat] }, out, now).split('\n')
    expect(lines[4]).toMatch(
      / 2026-06-10 12:00:00 \+02:00 {2}in 1h {5}0 30 2 \* \* \* {7}Europe\/Paris {2}queue {4}all within 1d, at most 100 {2}runs at most 1h, concurrency 1 {2}only in production$/,
    )
    expect(lines[5]).toMatch(/ immediately +- +FINISHED, \+1 HOUR {2}UTC /)
  })

  it('keeps what schedules say where there is little room', () => {
    const table = (width: number) => checkText(report, output(width), now).split('\n').slice(3, 5)
    expect(table(80)[0]).toMatch(/^JOB +NEXT RUN +FROM NOW +SCHEDULE +ZONE$/)
    expect(table(50)).toEqual([
      'JOB       NEXT RUN                    SCHEDULE',
      'nightly…  2026-06-10 12:00:00 +02:00  0 30 2 * * *',
    ])
  })

  it('wraps its warnings at the width of the terminal', () => {
    const warnings = ['The schedule of "nightly-report" (0 30 2 * * *): 02:30 is skipped once a year']
    const lines = checkText({ ...report, warnings }, output(50), now).split('\n')
    expect(lines.slice(6, 8)).toEqual(['! The schedule of "nightly-report" (0 30 2 * * *):', '  02:30 is skipped once a year'])
  })
})
