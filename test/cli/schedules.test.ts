import { existsSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/time/clock.ts'
import { parseCron } from '../../src/scheduling/calendar/cron/cron.ts'
import { HostedProject } from './hosted-project.ts'
import { configText, type Project } from './project.ts'

const schedulesText = `import { jobs } from 'treadle'
jobs.define('digest', () => 'sent').dailyAt('02:30').timezone('Europe/Paris')
jobs.define('leap-day', () => {}).cron('0 0 29 2 *')
jobs.define('off', () => {}).hourly().disable()
jobs.define('live', () => {}).hourly().environments('production')
jobs.define('plain', () => {}).queue('mail')
`

function scheduleProject(): Project {
  return new HostedProject({ 'treadle.config.ts': configText, 'jobs/all.ts': schedulesText })
}

interface Status {
  readonly schedule: string
  readonly state: string
  readonly last: { readonly state: string } | null
  readonly nextAt: string | null
}

async function states(project: Project): Promise<unknown> {
  const all = (await project.json(['list', '--schedules'])) as Status[]
  return Object.fromEntries(all.map(({ schedule, state }) => [schedule, state]))
}

describe('treadle list --schedules', () => {
  it('knows schedules from the code and from the database, and how they stand (Y21, D8, O10)', async () => {
    const project = scheduleProject()
    await project.call(['migrate'])
    const untouched = { digest: 'new', 'leap-day': 'new', off: 'disabled', live: 'other environment' }
    expect(await states(project)).toEqual(untouched)
    const fresh = await project.json(['list', '--schedules'])
    expect(fresh).toContainEqual(expect.objectContaining({ schedule: 'digest', beginsAtOnce: false, last: null }))
    await project.call(['run'])
    expect(await states(project)).toEqual({ ...untouched, digest: 'active', 'leap-day': 'active' })
    project.write('jobs/all.ts', schedulesText.replace("'digest'", "'summary'"))
    const { code, out, err } = await project.call(['list', '--schedules'])
    expect(code).toBe(0)
    expect(out).toMatch(/^digest .* Europe\/Paris {2}not in code .*$/m)
    expect(out).toMatch(/^summary .* new .* At 02:30, Europe\/Paris time$/m)
    expect(err).toBe('No longer in the code: digest. To remove one: treadle forget NAME\n')
  })

  it('works while a job file is broken, with what the database knows', async () => {
    const project = scheduleProject()
    await project.call(['run'])
    project.write('jobs/all.ts', 'const x = {')
    const { code, out, err } = await project.call(['list', '--schedules', '--json'])
    expect(code).toBe(0)
    expect((JSON.parse(out) as Status[]).map(({ schedule, state }) => [schedule, state])).toEqual([
      ['digest', 'active'],
      ['leap-day', 'active'],
    ])
    expect(err).toContain('Unexpected token')
  })

  it('without a config does not say of any schedule that the code does not have it', async () => {
    const project = scheduleProject()
    await project.call(['run'])
    const { out, err } = await new HostedProject().call(['list', '--schedules', '--url', `sqlite:${project.path('jobs.db')}`])
    expect(out).toMatch(/^digest .* active /m)
    expect(err).toBe('')
  })
})

describe('the last run of a schedule', () => {
  const repeatsText = `import { jobs } from 'treadle'
jobs.define('going', async (_: unknown, ctx) => {
  console.log('going began')
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
}).repeat('HOURLY')
jobs.define('failing', () => { throw new Error('not yet') }).retries(3, { base: '1h' }).repeat('HOURLY')
jobs.define('idle', () => {}).repeat('HOURLY')
`

  it('is told as it stands while it has not ended', async () => {
    const project = new HostedProject({ 'treadle.config.ts': configText, 'jobs/all.ts': repeatsText })
    await project.call(['run', '--job', 'failing'])
    const run = project.start(['run', '--job', 'going'])
    await run.says('going began')
    const all = (await project.json(['list', '--schedules'])) as Status[]
    expect(Object.fromEntries(all.map(({ schedule, last }) => [schedule, last?.state]))).toEqual({
      going: 'running',
      failing: 'retrying',
      idle: 'waits',
    })
    expect((await project.call(['status'])).out).toMatch(/^going .* (now|.* ago), running /m)
  })

  it('is what a repeat counts from; before it there is none, and the first comes at once', async () => {
    const project = new HostedProject({ 'treadle.config.ts': configText, 'jobs/all.ts': repeatsText })
    expect(await project.json(['next', 'idle'])).toMatchObject({ state: 'new', beginsAtOnce: true })
    expect((await project.call(['check'])).out).toMatch(/^idle .* immediately /m)
    expect(await project.json(['run', '--dry-run', '--job', 'idle'])).toMatchObject({
      schedules: expect.arrayContaining([
        expect.objectContaining({
          schedule: 'idle',
          isRunHere: true,
          occurrences: [expect.objectContaining({ why: 'current', isDue: true })],
        }),
        expect.objectContaining({ schedule: 'going', isRunHere: false }),
      ]),
    })
    await project.call(['run', '--job', 'idle'])
    await project.call(['run', '--job', 'idle'])
    const [idle] = ((await project.json(['list', '--schedules'])) as Status[]).filter(({ schedule }) => schedule === 'idle')
    const next = (await project.json(['next', 'idle', '--count', '1'])) as { runs: unknown[] }
    expect(next).toMatchObject({ beginsAtOnce: false, runs: [{ at: idle?.nextAt }] })
  })
})

describe('treadle pause and resume --schedule', () => {
  it('hold for all programs, and status tells', async () => {
    const project = scheduleProject()
    const paused = await project.call(['pause', '--schedule', 'digest,leap-day'])
    expect(paused).toMatchObject({ code: 0, out: 'paused the schedule digest\npaused the schedule leap-day\n', err: '' })
    expect(await project.json(['run'])).toMatchObject({ enqueued: 0 })
    expect((await project.call(['status'])).out).toMatch(/^digest .* paused /m)
    const next = await project.call(['next', 'digest'])
    expect(next.err).toBe('note: not followed: digest (paused); these would be its next runs\n')
    const resumed = await project.call(['resume', '--schedule', 'digest'])
    expect(resumed.out).toMatch(/^resumed the schedule digest: next run \d{4}-\d\d-\d\d 02:30:00 \+0[12]:00 \(in .*\)\n$/)
    expect(await project.json(['run'])).toMatchObject({ enqueued: 1 })
  })

  it('refuse a name that is not known, with the one that was meant, and change nothing', async () => {
    const project = scheduleProject()
    const { code, err } = await project.call(['pause', '--schedule', 'digest,leap-dya'])
    expect(code).toBe(4)
    expect(err).toBe(
      'treadle: There is no schedule "leap-dya". Did you mean "leap-day"? Known: digest, leap-day, live, off. [SCHEDULE_UNKNOWN]\n',
    )
    expect(await states(project)).toMatchObject({ digest: 'new' })
  })
})

describe('treadle trigger', () => {
  it('runs the job of a schedule now and prints its id, also of one that is disabled', async () => {
    const project = scheduleProject()
    const sent = (await project.json(['trigger', 'off'])) as { id: string }
    expect(sent).toEqual({ id: expect.any(String), job: 'off', created: true })
    expect(await project.json(['run', '--no-scheduler'])).toMatchObject({ succeeded: 1 })
    expect(await project.json(['show', sent.id])).toMatchObject({ job: 'off', state: 'succeeded' })
    expect(await project.call(['trigger', 'plain'])).toMatchObject({
      code: 4,
      err: expect.stringContaining('The job "plain" has no schedule: it runs only when it is sent. [SCHEDULE_UNKNOWN]'),
    })
    expect(await project.call(['trigger', 'nope'])).toMatchObject({ code: 4, err: expect.stringContaining('Known: digest,') })
  })
})

describe('treadle forget', () => {
  it('removes what the code no longer has, and nothing else', async () => {
    const project = scheduleProject()
    await project.call(['run'])
    for (const args of [
      ['forget', 'digest', '--yes'],
      ['forget', 'digest'],
    ]) {
      expect(await project.call(args)).toMatchObject({ code: 1, err: expect.stringContaining('"digest" is still defined here') })
    }
    expect(await project.call(['forget', 'nope'])).toMatchObject({ code: 4 })
    project.write('jobs/all.ts', schedulesText.replace("'digest'", "'summary'"))
    expect(await project.call(['forget', 'digest'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('this permanently removes a schedule: add --yes'),
    })
    expect(await project.call(['forget', 'digest', '--yes'])).toMatchObject({ code: 0, out: 'forgot the schedule digest\n' })
    expect(await states(project)).not.toHaveProperty('digest')
  })
})

describe('treadle next', () => {
  it('needs no project for an expression', async () => {
    const project = new HostedProject()
    const args = ['next', '30 2 * * *', '--zone', 'Europe/Paris', '--from', '2027-03-27T12:00:00Z', '--count', '1']
    expect(await project.json(args)).toEqual({
      kind: 'calendar',
      beginsAtOnce: false,
      expression: '0 30 2 * * *',
      timezone: 'Europe/Paris',
      text: 'At 02:30, Europe/Paris time',
      warnings: expect.any(Array),
      runs: [
        {
          at: '2027-03-28T01:00:00.000Z',
          local: '2027-03-28 03:00:00 +02:00',
          note: expect.stringContaining('02:30 is skipped'),
        },
      ],
    })
  })

  it('needs none for a word that is built in', async () => {
    const { code, out } = await new HostedProject().call(['next', 'EVERY_DAY', '--zone', 'Europe/Paris', '--count', '1'])
    expect(code).toBe(0)
    expect(out).toMatch(/^At 02:10, Europe\/Paris time\n/)
  })

  it('tells a schedule by its name, and all of them without one, and makes no database', async () => {
    const project = scheduleProject()
    const one = (await project.call(['next', 'digest', '--count', '2', '--zone', 'Asia/Tokyo'])).out
    expect(one).toMatch(/^At 02:30, Europe\/Paris time\n0 30 2 \* \* \* {2}Europe\/Paris\n/)
    expect(one).toMatch(
      /NEXT RUN +Asia\/Tokyo +FROM NOW\n(\d{4}-\d\d-\d\d 02:30:00 \+0[12]:00 {2}\S+ \S+ \+09:00 {2}in .*\n){2}$/,
    )
    const { out, err } = await project.call(['next', '--count', '2'])
    expect(out.match(/^digest {4}\d/gm)).toHaveLength(2)
    expect(err).toMatch(
      /^note: later: leap-day \(in .*\); --count shows more\nnote: not followed: live \(other environment\), off \(disabled\)\n$/,
    )
    expect(await project.json(['next', '--count', '1'])).toEqual([expect.objectContaining({ schedule: 'digest', note: null })])
    expect(existsSync(project.path('jobs.db'))).toBe(false)
  })

  it('refuses what is no schedule', async () => {
    const project = scheduleProject()
    expect(await project.call(['next', 'digets'])).toMatchObject({
      code: 4,
      err: expect.stringContaining('There is no schedule "digets". Did you mean "digest"? Known: digest, leap-day, off, live.'),
    })
    expect(await project.call(['next', 'plain'])).toMatchObject({
      code: 4,
      err: expect.stringContaining('The job "plain" has no schedule: it runs only when it is sent.'),
    })
  })
})

describe('treadle run --dry-run', () => {
  it('writes nothing, and makes no database (A11)', async () => {
    const project = scheduleProject()
    const fresh = await project.call(['run', '--dry-run'])
    expect(fresh).toMatchObject({ code: 0, err: '' })
    expect(fresh.out).toContain(`there is no database yet: a pass would create ${project.path('jobs.db')}\n`)
    expect(fresh.out).toMatch(/^digest +\d{4}-\d\d-\d\d 02:30:00 \+0[12]:00 {2}\S+Z {2}next: stored ahead$/m)
    expect(fresh.out).toMatch(/^off .* left out: disabled$/m)
    expect(fresh.out).toMatch(/^live .* left out: for another environment$/m)
    expect(existsSync(project.path('jobs.db'))).toBe(false)
  })

  it('tells what is stored already and how many jobs are due, and leaves the file as it is', async () => {
    const project = scheduleProject()
    await project.call(['run'])
    await project.call(['send', 'plain'])
    const before = [readFileSync(project.path('jobs.db')), statSync(project.path('jobs.db')).mtimeMs] as const
    const report = (await project.json(['run', '--dry-run'])) as { schedules: unknown[]; waiting: unknown }
    expect(report.schedules).toContainEqual({
      schedule: 'digest',
      leftOut: null,
      isRunHere: true,
      occurrences: expect.arrayContaining([expect.objectContaining({ why: 'next', stored: true })]),
    })
    expect(report.waiting).toEqual({ count: 1, isExact: true })
    expect(await project.json(['run', '--dry-run', '--queue', 'default'])).toMatchObject({ waiting: { count: 0 } })
    expect([readFileSync(project.path('jobs.db')), statSync(project.path('jobs.db')).mtimeMs]).toEqual(before)
    expect(await project.json(['run', '--no-scheduler'])).toMatchObject({ succeeded: 1 })
  })

  it('looks at another time with --at, which a pass then stores, once (A11)', async () => {
    const project = scheduleProject()
    const report = (await project.json(['run', '--dry-run', ...lastDigest(20_000)])) as { at: string; schedules: unknown[] }
    expect(report.at).toBe(lastDigest(20_000)[1])
    const run = {
      at: lastDigest(0)[1],
      local: expect.stringMatching(/ 02:30:00 \+0[12]:00$/),
      why: 'current',
      isDue: true,
      stored: false,
    }
    expect(report.schedules.slice(0, 2)).toEqual([
      { schedule: 'digest', leftOut: null, isRunHere: true, occurrences: [run] },
      { schedule: 'leap-day', leftOut: null, isRunHere: true, occurrences: [] },
    ])
    expect(await project.json(['run', ...lastDigest(20_000)])).toMatchObject({ enqueued: 1, succeeded: 1 })
    expect(await project.json(['run', ...lastDigest(20_000)])).toMatchObject({ enqueued: 0, succeeded: 0 })
  })

  it('with --at and --job looks only at the schedules of these jobs', async () => {
    const project = scheduleProject()
    const report = await project.json(['run', '--dry-run', '--job', 'leap-day', ...lastDigest()])
    expect(report).toMatchObject({ schedules: [{ schedule: 'leap-day' }] })
    expect(await project.json(['run', '--job', 'leap-day', ...lastDigest()])).toMatchObject({ enqueued: 0 })
  })
})

describe('treadle run --at', () => {
  it('says why it stored nothing', async () => {
    const project = scheduleProject()
    await project.call(['run', ...lastDigest()])
    const at = lastDigest()[1]?.replace('.000Z', 'Z')
    expect(await project.call(['run', ...lastDigest()])).toMatchObject({
      code: 0,
      out: 'nothing was due\n',
      err: `note: nothing was queued for ${at}: digest (queued before)\n`,
    })
    await project.call(['pause', '--schedule', 'digest'])
    expect(await project.call(['run', ...lastDigest()])).toMatchObject({ err: expect.stringContaining(': digest (paused)\n') })
    expect(await project.call(['run', ...lastDigest(60_000)])).toMatchObject({
      err: expect.stringMatching(/^note: nothing was queued: no schedule has a run at \S+Z\n$/),
    })
  })

  it('is refused for a time whose runs are no longer remembered', async () => {
    const { code, err } = await scheduleProject().call(['run', ...lastDigest(-8 * 86_400_000)])
    expect(code).toBe(1)
    expect(err).toMatch(/at must be within the last 7 days.* \[CONFIG_INVALID\]\n$/)
  })
})

/** The last time that the digest was due, or so long after or before it. */
function lastDigest(laterMs = 0): readonly string[] {
  const at = parseCron('30 2 * * *', 'Europe/Paris').previous(systemClock.now() - Math.max(laterMs, 0)) as number
  return ['--at', new Date(at + laterMs).toISOString()]
}

describe('treadle check', () => {
  it('warns of schedules that are probably not meant, and fails for it only when it is strict', async () => {
    const project = scheduleProject()
    const { code, out } = await project.call(['check'])
    expect(code).toBe(0)
    expect(out).toMatch(/^! The schedule of "digest" \(0 30 2 \* \* \*\): .*02:30/m)
    expect(out).toMatch(/✓ 5 jobs, 2 queues, 4 schedules, \d+ warnings?\n$/)
    const strict = await project.call(['check', '--strict', '--json'])
    expect(strict.code).toBe(1)
    expect(JSON.parse(strict.out)).toMatchObject({ problems: [], warnings: expect.arrayContaining([expect.any(String)]) })
    project.write('jobs/all.ts', `import { jobs } from 'treadle'\njobs.define('noon', () => {}).dailyAt('12:00')`)
    expect(await project.call(['check', '--strict'])).toMatchObject({ code: 0 })
  })
})
