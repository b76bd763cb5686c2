import { describe, expect, test } from 'vitest'
import { configText, Project, type Running } from './project.ts'

const files = {
  'treadle.config.ts': configText,
  'jobs/all.ts': `import { jobs, PermanentError } from 'treadle'
jobs.define('fails', () => {
  throw new PermanentError('broken \\u001b[31m for good')
}).queue('mail')
jobs.define('slow', async (_: unknown, ctx) => {
  await ctx.progress(0.5)
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
})
jobs.define('yearly', () => {}).cron('0 0 1 1 *')
`,
}
const [esc, control] = ['\u001b', '\u0003']

function type({ child }: Running, keys: string): void {
  child.stdin?.write(keys)
}

async function withDeadJob(): Promise<Project> {
  const project = new Project(files)
  await project.call(['send', 'fails'])
  await project.call(['run'])
  return project
}

describe('treadle top', () => {
  test('shows queues, running jobs, dead ones, workers and schedules, acts on keys, and leaves the terminal as it was', async () => {
    const project = await withDeadJob()
    await project.call(['send', 'slow'])
    const worker = project.start(['work'])
    await worker.says('slow')
    const top = project.startOnTerminal(['top', '--interval', '200ms'], 120, 40)
    for (const text of ['QUEUES', 'mail', '█████░░░░░  50 %', 'DEAD', 'broken', 'yearly']) await top.says(text)
    expect(await top.says('WORKERS')).toContain(`${esc}[?1049h`)
    type(top, 'jp')
    await top.says('paused the queue mail')
    expect(await project.json(['status'])).toMatchObject({ queues: [{}, { queue: 'mail', paused: true }] })
    type(top, '\t\t\r')
    const details = await top.says('Esc back')
    expect(details).toContain('attempt 1')
    // What a job says cannot do anything to the terminal.
    expect(details).not.toContain(`${esc}[31m for good`)
    type(top, esc)
    await top.says('DEAD')
    type(top, 'r')
    await top.says('is back in the queue')
    type(top, 'q')
    const { code, out, err } = await top.ended
    expect(code).toBe(0)
    expect(out.endsWith(`${esc}[?25h${esc}[?1049l`)).toBe(true)
    expect(err).toContain('terminal as before')
    worker.child.kill('SIGKILL')
  })

  test('tells the way out also where there is no room for the rest', async () => {
    const project = await withDeadJob()
    const top = project.startOnTerminal(['top', '--interval', '200ms'], 40, 24)
    await top.says('q quit')
    type(top, 'q')
    expect((await top.ended).code).toBe(0)
  })

  test('ends with Ctrl-C too, and gives the terminal back', async () => {
    const project = await withDeadJob()
    const typed = project.startOnTerminal(['top'], 80, 24)
    await typed.says('QUEUES')
    type(typed, control)
    expect(await typed.ended).toMatchObject({ code: 0, err: expect.stringContaining('terminal as before') })
    expect((await typed.ended).out.endsWith(`${esc}[?1049l`)).toBe(true)
  })

  test('fits into a small terminal: no line is wider, and no frame higher', async () => {
    const project = await withDeadJob()
    const top = project.startOnTerminal(['top', '--interval', '200ms'], 40, 10)
    await top.says('QUEUES')
    type(top, 'q')
    const { out } = await top.ended
    const frame = out.split(`${esc}[H`)[1] ?? ''
    const lines = frame
      .split(`${esc}[J`)[0]
      ?.split('\n')
      .map((line) => line.replaceAll(/\p{Cc}\[[0-9;?]*[A-Za-z]|\r/gu, ''))
    expect(lines?.length).toBeLessThanOrEqual(10)
    expect(Math.max(...(lines ?? []).map((line) => [...line].length))).toBeLessThanOrEqual(40)
  })

  test('prints one plain frame where the output is no terminal, and refuses to be read by programs', async () => {
    const project = await withDeadJob()
    const { code, out } = await project.call(['top'])
    expect(code).toBe(0)
    expect(out).toMatch(/^QUEUES$/m)
    expect(out).toMatch(/^mail +0 +0/m)
    expect(out).not.toContain(esc)
    const refused = await project.call(['top', '--json'])
    expect(refused.code).toBe(2)
    expect(JSON.parse(refused.err)).toMatchObject({ error: { message: expect.stringContaining('status --json') } })
  })
})

describe('treadle health', () => {
  test('says what is wrong, and ends with 1 where that is a problem', async () => {
    const project = new Project(files)
    await project.call(['send', 'fails'])
    const bad = await project.call(['health', '--json'])
    expect(bad.code).toBe(1)
    expect(JSON.parse(bad.out)).toMatchObject({
      status: 'problem',
      ready: 1,
      workers: 0,
      findings: [{ level: 'problem', text: '1 job is ready, and no worker is running' }],
    })
    await project.call(['run'])
    const { code, out } = await project.call(['health'])
    expect(code).toBe(1)
    expect(out).toContain('problem: No worker follows the schedules')
    expect(out).toContain('warning: 1 job failed for good in the last hour')
  })

  test('ends with 0 where all is well', async () => {
    const project = new Project({ 'treadle.config.ts': configText })
    await project.call(['migrate'])
    expect(await project.call(['health'])).toMatchObject({ code: 0, out: 'all is well\n0 workers, 0 ready, 0 running, 0 dead\n' })
  })
})

describe('treadle status --watch', () => {
  test('looks again and again until Ctrl-C', async () => {
    const project = await withDeadJob()
    const watching = project.start(['status', '--watch', '--json', '--interval', '100ms'])
    await watching.says('\n{')
    watching.child.kill('SIGINT')
    const { out } = await watching.ended
    const lines = out.trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ queues: expect.anything() })
  })

  test('replaces what it showed on a terminal', async () => {
    const project = await withDeadJob()
    const watching = project.startOnTerminal(['status', '--watch', '--interval', '100ms'], 100, 30)
    await watching.says('OLDEST WAITS')
    type(watching, control)
    const { out, err } = await watching.ended
    expect(out).toContain(`${esc}[H${esc}[2J`)
    expect(err).toContain('terminal as before')
  })
})

describe('treadle history', () => {
  test('shows how the last runs of a job went, for people and for programs', async () => {
    const project = await withDeadJob()
    const { code, out } = await project.call(['history', 'fails'])
    expect(code).toBe(0)
    expect(out).toContain('fails  1 dead')
    expect(out).toContain('all 1 that have ended and are kept, back to ')
    expect(out).toMatch(/^took +█ {2}p50 /m)
    expect(out).toMatch(/^ENDED +STATE +WAITED +TOOK +TRIES +ID$/m)
    expect(await project.json(['history', 'fails'])).toMatchObject({
      job: 'fails',
      complete: true,
      counts: { dead: 1 },
      runs: [{ state: 'dead', attempts: 1 }],
    })
    for (let each = 0; each < 3; each++) await project.call(['send', 'fails', '{}', '--delay', '1h'])
    const behind = await project.call(['history', 'fails', '--limit', '1'])
    expect(behind.out).toContain('fails  1 dead, 3 not ended')
    expect(behind.out).toContain('the newest 1 that have ended')
    expect(await project.json(['history', 'fails', '--limit', '1'])).toMatchObject({ notEnded: 3, counts: { dead: 1 } })
    const unknown = await project.call(['history', 'fail'])
    expect(unknown.err).toContain('Did you mean "fails"?')
  })
})
