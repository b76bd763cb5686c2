import { describe, expect, it } from 'vitest'
import { HostedProject } from './hosted-project.ts'
import { configText, type Project } from './project.ts'

const jobsText = `import { jobs } from 'treadle'
jobs.define('digest', (payload) => payload).timeout('30s').concurrency(3)
jobs.define('hourly', () => {}).hourly().misfire('all').maxRunningTime('10m')
`

function project(): Project {
  return new HostedProject({ 'treadle.config.ts': configText, 'jobs/all.ts': jobsText })
}

const set = ['schedules', 'set', 'acme/digest', '--job', 'digest'] as const

describe('treadle schedules', () => {
  it('makes, shows, changes, pauses, runs and deletes a stored schedule', async () => {
    const { call, json } = bound(project())
    const made = await call([...set, '--cron', '0 9 * * 1-5', '--zone', 'Europe/Paris', '--payload', '{"tenant":"acme"}'])
    expect(made).toMatchObject({ code: 0, err: '' })
    expect(made.out).toMatch(/^set the schedule acme\/digest, At 09:00 from Monday to Friday, Europe\/Paris time: next run /)
    expect(await json(['schedules', 'show', 'acme/digest'])).toMatchObject({
      key: 'acme/digest',
      job: 'digest',
      state: 'active',
      payload: { tenant: 'acme' },
      rules: { overlap: 'skip', misfire: 'latest' },
      limits: { timeout: '30s', concurrency: 3 },
    })
    const shown = await call(['schedules', 'show', 'acme/digest'])
    expect(shown.out).toMatch(/^payload +\{"tenant":"acme"\}$/m)
    expect(await json([...set, '--every', '15m', '--misfire', 'all', '--within', '1h', '--cap', '3'])).toMatchObject({
      kind: 'every',
      said: '15m',
      misfire: { kind: 'all', withinMs: 3_600_000, cap: 3 },
    })
    expect((await call(['schedules', 'pause', 'acme/digest'])).out).toBe('paused the schedule acme/digest\n')
    expect(await json(['schedules', 'list', '--stored'])).toMatchObject([{ key: 'acme/digest', state: 'paused', nextAt: null }])
    expect((await call(['schedules', 'resume', 'acme/digest'])).code).toBe(0)
    const run = (await json(['schedules', 'run', 'acme/digest'])) as { readonly id: string }
    expect(await json(['show', run.id])).toMatchObject({ job: 'digest', state: 'ready' })
    for (const name of ['acme/digest', 'stored:acme/digest']) {
      const refused = await call(['forget', name, '--yes'])
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('use "treadle schedules delete acme/digest"') })
    }
    expect(await call(['schedules', 'delete', 'acme/digest'])).toMatchObject({ code: 2, err: expect.stringMatching(/--yes/) })
    expect(await call(['schedules', 'delete', 'acme/digest', '--yes'])).toMatchObject({
      code: 0,
      out: 'deleted the schedule acme/digest\n',
    })
    expect(await json(['schedules', 'list', '--stored'])).toEqual([])
  })

  it('says that a schedule has ended when its last time has passed, with times as text', async () => {
    const { call, json } = bound(project())
    const past = [...set, '--cron', '0 9 * * *', '--until', '2020-01-01T00:00:00Z']
    expect((await call(past)).out).toBe(
      'set the schedule acme/digest, At 09:00, UTC: it has ended, because its --until has passed\n',
    )
    const times = { until: '2020-01-01T00:00:00.000Z', nextAt: null }
    expect(await json(past)).toMatchObject({ ...times, since: expect.stringMatching(/^20.*Z$/), state: 'ended' })
    expect(await json(['schedules', 'show', 'acme/digest'])).toMatchObject({ ...times, recent: [] })
  })

  it('is beside the commands for schedules of the code, which know stored ones by their keys', async () => {
    const { call, json } = bound(project())
    await call([...set, '--cron', '0 9 * * *'])
    expect((await call(['next', 'acme/digest'])).out).toMatch(/At 09:00, UTC/)
    expect((await call(['trigger', 'acme/digest'])).code).toBe(0)
    expect((await call(['pause', '--schedule', 'acme/digest'])).code).toBe(0)
    expect(await json(['list', '--schedules'])).toMatchObject([
      { schedule: 'hourly', key: null, rules: { overlap: 'queue', misfire: 'all within 1d, at most 100' } },
      { schedule: 'stored:acme/digest', key: 'acme/digest', state: 'paused' },
    ])
    expect(await json(['check'])).toMatchObject({
      jobs: [
        { job: 'digest', limits: { timeout: '30s', maxRunningTime: null, concurrency: 3 }, rules: null },
        { job: 'hourly', limits: { maxRunningTime: '10m', concurrency: 1 }, rules: { overlap: 'queue' } },
      ],
    })
    expect((await call(['run', '--dry-run'])).code).toBe(0)
  })

  it('refuses what is not sound, and says what to do', async () => {
    const { call } = bound(project())
    expect(await call([...set])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/give one of --cron, --every and --repeat/),
    })
    expect(await call([...set, '--every', '15m', '--cap', '3'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/need --misfire/),
    })
    const unknown = ['schedules', 'set', 'a', '--job', 'nobody', '--every', '15m']
    expect(await call(unknown)).toMatchObject({ code: expect.any(Number), err: expect.stringMatching(/nobody.*--force/s) })
    expect(await call([...unknown, '--force'])).toMatchObject({ code: 0 })
    expect((await call(['schedules', 'list'])).out).toMatch(/^stored:a .*unknown job/m)
    expect(await call([...set, '--cron', '61 * * * *'])).toMatchObject({ code: 2, err: expect.stringMatching(/61/) })
    expect(await call(['schedules', 'show', 'acme/digst'])).toMatchObject({ code: 4, err: expect.stringMatching(/no schedule/) })
    const clash = ['schedules', 'set', 'hourly', '--job', 'digest', '--every', '1h']
    expect(await call(clash)).toMatchObject({ code: 1, err: expect.stringMatching(/name of a schedule of the code/) })
  })
})

function bound(project: Project) {
  return {
    call: (args: readonly string[]) => project.call(args),
    json: (args: readonly string[]) => project.json(args),
  }
}
