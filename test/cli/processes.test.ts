import { describe, expect, it } from 'vitest'
import { configText, jobProject, jobsText, Project } from './project.ts'

/** What only a worker process finds wrong, and not the one that leads it. */
const brokenInWorkers = `if (process.send !== undefined) throw new Error('the mail server is not configured')\n`

describe('treadle work --processes', () => {
  it('tells what it starts, what each process does, and the sum of it (J37)', async () => {
    const project = jobProject()
    const worker = project.start(['work', '--processes', '2', '--concurrency', '3', '--no-scheduler'])
    await worker.says('process 1 (pid ')
    await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '50s'])
    await project.call(['send', 'fails', '--wait', '50s'])
    worker.child.kill('SIGTERM')
    const { code, out, err } = await worker.ended
    expect(code).toBe(0)
    expect(out).toContain('  processes    2\n  concurrency  3 in each\n  schedules    not followed here\n')
    expect(out.match(/working on/g)).toHaveLength(1)
    for (const number of [1, 2]) {
      expect(out).toMatch(new RegExp(`· process ${number} \\(pid \\d+\\) started\n`))
      expect(out).toMatch(new RegExp(`· process ${number} \\(pid \\d+\\) ended with code 0\n`))
    }
    expect(out).toMatch(/\n\[[12]\] ✓ add [0-9a-f-]{36} \d+ms\n/)
    expect(out).toMatch(/\n\[[12]\] ✗ fails [0-9a-f-]{36} dead \(permanent\) at attempt 1: broken ␛\[31m for good\n/)
    expect(out).toMatch(/stopped: 1 succeeded, 1 dead\n$/)
    expect(err).toBe('stopping: waiting for running jobs; press Ctrl-C again to abort them\n')
  })

  it('ignores what a handler sends to the process that leads it', async () => {
    const project = jobProject()
    const send = `for (const garbage of [null, 7, 'abort', {}, { kind: 'report' }]) process.send?.(garbage)`
    project.write('jobs/sends.ts', `import { jobs } from 'treadle'\njobs.define('sends', () => { ${send} })`)
    const worker = project.start(['work', '--processes', '1', '--no-scheduler'])
    await worker.says('process 1 (pid ')
    await project.call(['send', 'sends', '--wait', '50s'])
    await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '50s'])
    worker.child.kill('SIGTERM')
    const { code, out } = await worker.ended
    expect([code, out.slice(out.lastIndexOf('stopped: '))]).toEqual([0, 'stopped: 2 succeeded\n'])
  })

  it('writes one JSON object a line with the process that it is about, also where a handler prints', async () => {
    const project = jobProject()
    project.write('jobs/talks.ts', `import { jobs } from 'treadle'\njobs.define('talks', () => console.log('{"so": it is}'))`)
    const worker = project.start(['work', '--processes', '1', '--json', '--no-scheduler'])
    await worker.says('child:ready')
    await project.call(['send', 'talks', '--wait', '50s'])
    worker.child.kill('SIGTERM')
    const lines = (await worker.ended).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly event: string; readonly pid: number })
    expect(lines.map(({ event }) => event)).toEqual([
      'worker:started',
      'child:started',
      'child:ready',
      'output',
      'job:succeeded',
      'child:ended',
      'worker:stopped',
    ])
    const { pid } = lines[1]!
    expect(lines[3]).toEqual({ event: 'output', text: '{"so": it is}', child: 1, pid })
    expect(lines[4]).toMatchObject({ job: 'talks', child: 1, pid })
    expect(lines.at(-1)).toMatchObject({ succeeded: 1, started: 1, died: 0 })
  })

  it('says of its sum that it leaves out what a process did that was killed', async () => {
    const project = jobProject()
    const worker = project.start(['work', '--processes', '1', '--no-scheduler'])
    const said = await worker.says(') ready')
    await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '50s'])
    process.kill(Number(/process 1 \(pid (\d+)\) ready/.exec(said)?.[1]), 'SIGKILL')
    await worker.says('was killed by SIGKILL')
    worker.child.kill('SIGTERM')
    const { code, out } = await worker.ended
    expect(code).toBe(0)
    const sum = 'stopped: nothing is counted; 1 process died; not counting what 1 process did before it was killed\n'
    expect(out.endsWith(sum), out).toBe(true)
  })

  it('is silent but for trouble when it is told to be quiet', async () => {
    const project = jobProject()
    const worker = project.start(['work', '--processes', '1', '--quiet'])
    await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '50s'])
    await project.call(['send', 'fails', '--wait', '50s'])
    worker.child.kill('SIGTERM')
    expect((await worker.ended).out).toMatch(/^\[1\] ✗ fails .*\n$/)
  })

  it('follows schedules in one process only', async () => {
    const project = jobProject()
    const worker = project.start(['work', '--processes', '2', '--json'])
    await worker.says('"event":"child:ready","child":1')
    await worker.says('"event":"child:ready","child":2')
    const workers = (await project.json(['workers'])) as readonly { readonly scheduler: unknown }[]
    expect(workers.map(({ scheduler }) => scheduler === null).sort()).toEqual([false, true])
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0 })
  })

  it('gives up when no process can start, with their reason', async () => {
    const project = new Project({ 'treadle.config.ts': configText, 'jobs/all.ts': jobsText, 'jobs/broken.ts': brokenInWorkers })
    const { code, out, err } = await project.call(['work', '--processes', '2'])
    expect(code).toBe(1)
    expect(out.match(/ended with code 1/g)?.length).toBeGreaterThanOrEqual(3)
    expect(err).toMatch(/\ntreadle: .*broken\.ts.*the mail server is not configured \[CONFIG_LOAD_FAILED\]\n$/)
  })

  it.each(['memory:', 'sync:'])('refuses %s, which processes cannot share', async (url) => {
    const { code, out, err } = await jobProject().call(['work', '--processes', '2', '--url', url])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^treadle: Several processes cannot share a (memory|sync) queue.*\[CONFIG_INVALID\]\n$/)
  })
})
