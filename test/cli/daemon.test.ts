import { describe, expect, it } from 'vitest'
import { Project } from './project.ts'

/** The time begins at AT where it is given, and goes on as it does outside; with SLOW each look at it takes seconds. */
const clockedConfig = `import { defineConfig, systemClock } from 'treadle'
const offset = process.env.AT === undefined ? 0 : Date.parse(process.env.AT) - systemClock.now()
let slept = 0
const now = () => systemClock.now() + offset + (process.env.SLOW === undefined ? 0 : (slept += 2_000))
export default defineConfig({ url: 'sqlite:jobs.db', clock: { ...systemClock, now } })
`

const jobsText = `import { jobs } from 'treadle'
jobs.define('hourly', () => {}).hourly()
jobs.define('add', ({ a, b }: { a: number; b: number }) => a + b)
`

/** Far from a full hour, at which another run would be stored. */
const halfPast = { env: { AT: '2026-06-10T09:30:00Z' } }

function clockedProject(): Project {
  return new Project({ 'treadle.config.ts': clockedConfig, 'jobs/all.ts': jobsText })
}

describe('treadle daemon', () => {
  it('runs jobs, tells each tick, and at the end how well it kept time (Y1, Y17)', async () => {
    const project = clockedProject()
    const daemon = project.start(['daemon', '--tick', '1s', '--verbose'], halfPast)
    await daemon.says('1 run stored')
    await daemon.says('nothing new')
    expect(await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '30s'], halfPast)).toMatchObject({ code: 0, out: '3\n' })
    daemon.child.kill('SIGTERM')
    const { code, out } = await daemon.ended
    expect(code).toBe(0)
    expect(out).toMatch(/^working on sqlite:jobs\.db\n[\s\S]* {2}schedules {4}1\n {2}tick {9}1s\n/)
    expect(out).toMatch(/^· tick \S+ \S+ {2}1 run stored, next \d{4}-\d\d-\d\d \d\d:00:00$/m)
    expect(out).toMatch(/✓ add \S+ \d+ms\n/)
    expect(out).toMatch(/\nstopped: 1 queued by schedules, 1 succeeded\n {2}ticks +\d+\n {2}overruns +\d+/)
    expect(out).toMatch(/\n {2}longest tick {2}\S+\n {2}latest start {2}\S+ after its time\n$/)
  })

  it('writes one JSON object a line for programs', async () => {
    const project = clockedProject()
    const daemon = project.start(['daemon', '--json', '--single', '--max-overruns', '0'], halfPast)
    await daemon.says('schedule:tick')
    daemon.child.kill('SIGTERM')
    const lines = (await daemon.ended).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines[0]).toMatchObject({ event: 'worker:started', scheduler: 'single', schedules: 1, tickMs: 60_000 })
    expect(lines[1]).toMatchObject({
      event: 'schedule:tick',
      enqueued: 1,
      plannedAt: expect.any(String),
      nextAt: expect.any(String),
    })
    expect(lines.at(-1)).toMatchObject({
      event: 'worker:stopped',
      ticks: expect.any(Number),
      missedTicks: 0,
      longestMs: expect.any(Number),
    })
  })

  it('gives up when it cannot keep up, and says why (Y17)', async () => {
    const project = clockedProject()
    const { code, out, err } = await project.call(['daemon', '--tick', '1s', '--max-overruns', '1'], { env: { SLOW: '1' } })
    expect(code).toBe(1)
    expect(out).toContain('longer than the tick')
    expect(err).toMatch(/1 ticks? in a row took longer than .* \[SCHEDULER_OVERRUN\]\n$/)
  })
})

describe('a scheduler with --single', () => {
  it('is waited for by workers, and ends a pass with its own exit code (X31)', async () => {
    const project = clockedProject()
    const holder = project.start(['daemon', '--single'], halfPast)
    await holder.says('1 run stored')
    const waiting = project.start(['work', '--single'], halfPast)
    await waiting.says('waiting for it')
    const pass = await project.call(['run', '--single'], halfPast)
    expect(pass).toMatchObject({ code: 5, out: '' })
    expect(pass.err).toContain(`process ${holder.child.pid} on `)
    expect(pass.err).toContain('[SCHEDULER_LOCKED]')
    holder.child.kill('SIGTERM')
    await holder.ended
    expect(await project.call(['run', '--single'], halfPast)).toMatchObject({ code: 0 })
    waiting.child.kill('SIGTERM')
    expect(await waiting.ended).toMatchObject({ code: 0, out: expect.stringContaining('followed by one scheduler at a time') })
  })
})

describe('what a schedule missed', () => {
  it('is told by the worker that comes after', async () => {
    const project = clockedProject()
    await project.call(['run'], halfPast)
    const worker = project.start(['work', '--quiet'], { env: { AT: '2026-06-10T14:30:00Z' } })
    await worker.says('! hourly was due while no scheduler was running: ')
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0 })
  })

  it('is told by the pass that comes after', async () => {
    const project = clockedProject()
    await project.call(['run'], halfPast)
    const later = { env: { AT: '2026-06-10T14:30:00Z' } }
    const { err } = await project.call(['run'], later)
    expect(err).toBe(
      'note: hourly was due while no scheduler was running: 1 run caught up (due 2026-06-10T14:00:00Z), 4 left out\n',
    )
    const evening = { env: { AT: '2026-06-10T18:30:00Z' } }
    const { out, err: silent } = await project.call(['run', '--json'], evening)
    expect(JSON.parse(out)).toMatchObject({
      missed: [{ schedule: 'hourly', madeUp: ['2026-06-10T18:00:00.000Z'], leftOut: 3 }],
    })
    expect(silent).toBe('')
  })
})

describe('a worker', () => {
  it('counts only the schedules that it follows here', async () => {
    const project = clockedProject()
    project.write(
      'jobs/more.ts',
      `import { jobs } from 'treadle'
jobs.define('live', () => {}).hourly().environments('production')
jobs.define('off', () => {}).hourly().disable()`,
    )
    const worker = project.start(['work'], halfPast)
    await worker.says('schedules    1\n')
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0 })
  })

  it('tells a run that is skipped because an earlier one has not ended, and warns of it', async () => {
    const project = clockedProject()
    project.write(
      'jobs/all.ts',
      `import { jobs } from 'treadle'
jobs.define('skips', (_: unknown, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)))
  .everySecond()`,
    )
    const worker = project.start(['work', '--grace', '1ms'], halfPast)
    await worker.says(' skipped: ')
    worker.child.kill('SIGTERM')
    const { out, err } = await worker.ended
    expect(out).toMatch(/^- skips \S+ skipped: the run of /m)
    expect(err).toMatch(/^treadle: \[skips \S+\] is skipped: the run of \S+ has not ended/m)
  })
})
