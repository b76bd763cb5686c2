import { describe, expect, it } from 'vitest'
import { JobServer } from '../manager/job-server.ts'
import { Project } from './project.ts'

async function managed(files: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const server = await JobServer.start()
  const project = new Project({ 'workers/.keep': '', ...files })
  const common = ['manage', '--name', '*', '--workers', 'workers', '--port', String(server.port), '--max-load', '100000']
  const start = (more: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
    project.start([...common, ...args, ...more], { env })
  return { server, project, start }
}

describe('a worker that is a module', () => {
  it('is called with the data and the job, and what it returns becomes the data', async () => {
    const { server, start } = await managed({
      'workers/Typed.ts': `interface Mail { readonly to: string }
export default async ({ to }: Mail, job: { jobID: number; name: string }): Promise<object> => {
  console.log('{"noise":true}')
  return { to: to.toUpperCase(), job: job.jobID, name: job.name }
}`,
      'workers/mail/Plain.mjs': `export default (data) => { console.log(JSON.stringify({ noise: true })) }`,
      'workers/Common.cjs': 'module.exports = (data) => ({ got: data })',
      'workers/library.ts': `import { TreadleError } from 'treadle'\nexport default () => ({ known: typeof TreadleError })`,
    })
    const running = start()
    const typed = server.add('Typed', { to: 'ada' })
    expect(await server.endOf(typed)).toMatchObject({ how: 'finishjob', data: { to: 'ADA', job: typed, name: 'Typed' } })
    expect(await server.endOf(server.add('mail/Plain'))).toMatchObject({ how: 'finishjob', data: undefined })
    expect((await server.endOf(server.add('Common', { n: 1 }))).data).toEqual({ got: { n: 1 } })
    expect((await server.endOf(server.add('library'))).data).toEqual({ known: 'function' })
    await running.says(`✓ Typed ${typed}`)
    running.child.kill('SIGTERM')
    const { code, out } = await running.ended
    expect(code).toBe(0)
    expect(out).toContain('stopped: 4 finished, 0 retried, 0 failed, 0 given back')
  })

  it('fails, or asks to be tried again', async () => {
    const { server, start } = await managed({
      'workers/Throws.ts': `export default () => { throw new TypeError('no such mail') }`,
      'workers/Again.ts': `class RetryJob extends Error {
  override readonly name = 'RetryJob'
  readonly delay = 7
  readonly data = { step: 2 }
}
export default () => { throw new RetryJob() }`,
      'workers/Nothing.ts': 'export const worker = 1',
      'workers/Broken.ts': 'export default (',
      'workers/Hangs.mjs': 'export default () => new Promise(() => {})',
      'workers/Exits.mjs': 'export default () => process.exit(9)',
    })
    start()
    const end = (name: string) => server.endOf(server.add(name, { n: 1 }))
    expect(await end('Throws')).toMatchObject({
      how: 'failjob',
      data: { n: 1, error: expect.stringContaining('TypeError: no such mail') },
    })
    expect(await end('Again')).toMatchObject({ how: 'retryjob', delay: '7', data: { step: 2 } })
    for (const [name, error] of [
      ['Nothing', 'must export a function as its default'],
      ['Broken', 'Broken.ts'],
      ['Hangs', 'code 13: the promise that the worker returned can never be settled'],
      ['Exits', 'code 9'],
    ]) {
      expect(await end(name as string)).toMatchObject({
        how: 'failjob',
        data: { error: expect.stringContaining(error as string) },
      })
    }
    const told = ['Throws', 'Nothing', 'Broken'].map(async (name) => ((await end(name)).data as { error: string }).error)
    const [throws, ...others] = await Promise.all(told)
    expect(throws).toMatch(/at .*Throws\.ts/)
    for (const error of [throws, ...others]) expect(error).not.toMatch(/module-entry|node:internal|at loadModule/)
  })
})

describe('treadle manage', () => {
  const patient = `import { existsSync } from 'node:fs'
export default async () => { while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20)) }`

  it('ends after what runs at the first signal', async () => {
    const { server, project, start } = await managed({ 'workers/Patient.mjs': patient })
    const running = start(['--json'])
    const jobID = server.add('Patient')
    await running.says('"event":"job:started"')
    running.child.kill('SIGTERM')
    await running.says('"event":"manager:draining"')
    project.write('go', '')
    const { code, out } = await running.ended
    expect(code).toBe(0)
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).event),
    ).toEqual(['manager:started', 'job:started', 'manager:draining', 'job:finished', 'manager:stopped'])
    expect(server.ended.get(jobID)).toMatchObject({ how: 'finishjob' })
  })

  it('ends what runs at the second signal and gives it back', async () => {
    const { server, start } = await managed({ 'workers/Patient.mjs': patient })
    const running = start()
    const jobID = server.add('Patient')
    await running.says('started')
    running.child.kill('SIGINT')
    await running.says('stopping: waiting')
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130, out: expect.stringContaining('given back') })
    expect(server.ended.get(jobID)).toMatchObject({ how: 'retryjob', delay: '0' })
  })

  it('keeps the token from the workers, which see the rest of its environment', async () => {
    const { server, start } = await managed({
      'workers/Env.mjs': 'export default () => ({ token: process.env.TREADLE_TOKEN ?? null, other: process.env.OTHER })',
    })
    start([], { TREADLE_TOKEN: 's3cret-token', OTHER: 'x' })
    expect((await server.endOf(server.add('Env'))).data).toEqual({ token: null, other: 'x' })
    expect(server.tokens).toEqual(new Set(['s3cret-token']))
  })

  it('says only trouble with --quiet, and ends after --max-iterations', async () => {
    const { server, start } = await managed({ 'workers/Fine.mjs': 'export default () => {}' }, [
      '--quiet',
      '--max-iterations',
      '1',
    ])
    server.add('Fine')
    server.add('Missing')
    const { code, out } = await start().ended
    expect(code).toBe(0)
    expect(out.trim().split('\n')).toEqual([expect.stringMatching(/^✗ Missing 2 there is no worker for it/)])
  })

  it.each<[args: readonly string[], message: string]>([
    [['--workers', 'workers'], "required option '--name <pattern>' not specified"],
    [['--name', '*'], "required option '--workers <folder>' not specified"],
    [['--name', '*', '--workers', 'nowhere'], '--workers: there is no folder'],
    [['--name', '*', '--workers', '.', '--max-load', '0'], 'It must be a load average above 0, such as 5.0.'],
    [['--name', '*', '--workers', '.', '--time-limit', '5'], 'It must be a duration with its unit'],
    [['--name', '*', '--workers', '.', '--port', '0'], 'It must be a whole number from 1 to 65535.'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await new Project().call(['manage', ...args])
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) })
  })
})
