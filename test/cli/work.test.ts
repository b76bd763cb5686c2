import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { configText, jobProject, Project } from './project.ts'

const mainFile = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

interface Sent {
  readonly id: string
}

describe('treadle work', () => {
  it('tells where it works, each job that ended, and what it did; SIGTERM ends it well (J37)', async () => {
    const project = jobProject()
    const worker = project.start(['work', '--concurrency', '3', '--no-scheduler'])
    await worker.says('schedules    not followed here')
    const waited = await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '30s'])
    expect(waited).toMatchObject({ code: 0, out: '3\n', err: expect.stringMatching(/^sent add /) })
    const failed = await project.call(['send', 'fails', '--wait', '30s'])
    expect(failed).toMatchObject({ code: 1, out: '', err: expect.stringContaining('[RUN_FAILED]') })
    await project.call(['send', 'flaky', '--wait', '30s'])
    worker.child.kill('SIGTERM')
    const { code, out, err } = await worker.ended
    expect(code).toBe(0)
    expect(out).toContain(`working on sqlite:jobs.db\n  config       ${project.path('treadle.config.ts')}\n  queues       all\n`)
    expect(out).toContain('concurrency  3\n')
    expect(out).toMatch(/✓ add [0-9a-f-]{36} \d+ms\n/)
    expect(out).toMatch(/✗ fails [0-9a-f-]{36} dead \(permanent\) at attempt 1: broken ␛\[31m for good\n/)
    expect(out).toMatch(/↻ flaky [0-9a-f-]{36} attempt 1: not yet \(retried at once\)\n/)
    expect(out).toMatch(/stopped: 2 succeeded, 1 retried, 1 dead\n$/)
    expect(err).toContain('stopping: waiting for running jobs')
  })

  it('the second Ctrl-C aborts what runs and gives it back unburnt', async () => {
    const project = jobProject()
    const { id } = (await project.json(['send', 'patient'])) as Sent
    const worker = project.start(['work', '--grace', '1h'])
    await worker.says('patient began')
    worker.child.kill('SIGINT')
    await worker.says('stopping')
    worker.child.kill('SIGINT')
    expect(await worker.ended).toMatchObject({ code: 130, out: expect.stringContaining(`- patient ${id} returned unfinished`) })
    expect(await project.json(['show', id])).toMatchObject({ state: 'ready', attempts: 0 })
  })

  it('says that its database file was deleted, and ends with a failure', async () => {
    const project = jobProject()
    const worker = project.start(['work', '--no-scheduler'])
    await worker.says('working on')
    await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '30s'])
    rmSync(project.path('jobs.db'))
    expect(await worker.ended).toMatchObject({
      code: 1,
      err: expect.stringMatching(/jobs\.db was deleted or moved.*\[DATABASE_REPLACED\]/),
    })
  })

  it('writes one JSON object a line for programs', async () => {
    const project = jobProject()
    const worker = project.start(['work', '--json', '--queue', 'mail,default', '--job', 'add', '--job', 'fails'])
    await worker.says('worker:started')
    await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '30s'])
    await project.call(['send', 'fails', '--wait', '30s'])
    worker.child.kill('SIGTERM')
    const lines = (await worker.ended).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toEqual([
      expect.objectContaining({ event: 'worker:started', queues: ['mail', 'default'], jobs: ['add', 'fails'] }),
      expect.objectContaining({ event: 'job:succeeded', job: 'add', durationMs: expect.any(Number), at: expect.any(String) }),
      expect.objectContaining({ event: 'job:dead', job: 'fails', error: { message: 'broken \u001b[31m for good' } }),
      expect.objectContaining({ event: 'worker:stopped', succeeded: 1, dead: 1 }),
    ])
  })

  it('with --json, what job files and handlers print is not among the data', async () => {
    const text = `import { jobs } from 'treadle'
console.log('loaded')
jobs.define('prints', () => { console.log('printed'); process.stdout.write('written\\n') })
`
    const project = new Project({ 'treadle.config.ts': configText, 'jobs/prints.ts': text })
    for (const args of [['run'], ['work', '--once']]) {
      await project.call(['send', 'prints'])
      const { code, out, err } = await project.call([...args, '--json'])
      expect([code, err]).toEqual([0, 'loaded\nprinted\nwritten\n'])
      const lines = out.trimEnd().split('\n')
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ succeeded: 1 })
      for (const line of lines) expect(JSON.parse(line)).toBeTypeOf('object')
    }
    const exported = await project.call(['export', '--json'])
    expect(JSON.parse(exported.out.split('\n')[0] ?? '')).toMatchObject({ treadle: 'export' })
  })

  it('an output that cannot be written fails the command with a word', async () => {
    const project = jobProject()
    const command = `"${process.execPath}" "${mainFile}" list --url memory: > /dev/full`
    const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: project.folder, encoding: 'utf8' })
    expect([status, stderr]).toEqual([
      1,
      'treadle: the output cannot be written: ENOSPC: no space left on device, write [FAILED]\n',
    ])
  })

  it('is silent but for trouble when it is told to be quiet', async () => {
    const project = jobProject()
    const worker = project.start(['work', '--quiet'])
    await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '30s'])
    await project.call(['send', 'fails', '--wait', '30s'])
    worker.child.kill('SIGTERM')
    expect((await worker.ended).out).toMatch(/^✗ fails .*\n$/)
  })

  it.each([['work'], ['work', '--processes', '1']])('stops in order when nobody ever read it: %s %s', async (...args) => {
    const worker = jobProject().start(args)
    worker.child.stdout?.destroy()
    expect(await worker.ended).toMatchObject({ code: 0, err: '' })
  })

  it('stops in order when nobody reads it any more', async () => {
    const project = jobProject()
    const worker = project.start(['work'])
    await worker.says('working on')
    worker.child.stdout?.destroy()
    await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '30s'])
    expect(await worker.ended).toMatchObject({ code: 0, err: '' })
  })

  it('refuses options and jobs that make no sense before it says that it works', async () => {
    const project = jobProject()
    expect(await project.call(['work', '--lease', '10ms'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('lease must be from 1s'),
    })
    expect(await project.call(['work', '--job', 'nope'])).toMatchObject({
      code: 4,
      out: '',
      err: expect.stringContaining('No job is defined as "nope"'),
    })
  })

  it('a queue that no job uses is remarked, with those that are in use', async () => {
    const { code, err } = await jobProject().call(['run', '--queue', 'mial,mail'])
    expect({ code, err }).toEqual({
      code: 0,
      err: 'note: no job that is defined here uses the queue mial; in use: default, mail\n',
    })
  })

  it('waiting for a result ends at its time', async () => {
    const project = jobProject()
    const waited = await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '1ms'])
    expect(waited).toMatchObject({ code: 1, out: '', err: expect.stringContaining('[WAIT_TIMEOUT]') })
  })

  it('one pass that is interrupted waits for what runs, and gives it back unburnt at the second Ctrl-C', async () => {
    const project = jobProject()
    const { id } = (await project.json(['send', 'patient'])) as Sent
    const run = project.start(['run'])
    await run.says('patient began')
    run.child.kill('SIGINT')
    await run.says('press Ctrl-C again to abort them')
    run.child.kill('SIGINT')
    expect(await run.ended).toMatchObject({ code: 130 })
    expect(await project.json(['show', id])).toMatchObject({ state: 'ready', attempts: 0 })
  })
})

describe('a handler that ends the process', () => {
  it('does not make a pass succeed', async () => {
    const project = new Project({
      'treadle.config.mjs': `export default { url: 'sqlite:jobs.db' }`,
      'jobs/exits.mjs': `import { jobs } from 'treadle'\njobs.define('exits', () => process.exit(0))`,
    })
    await project.call(['send', 'exits'])
    const { code, err } = await project.start(['run']).ended
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('called process.exit() before the command was done') })
  })
})
