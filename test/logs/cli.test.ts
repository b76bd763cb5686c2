import { expect, it } from 'vitest'
import { HostedProject } from '../cli/hosted-project.ts'

const files = {
  'treadle.config.ts': `export default { url: 'sqlite:jobs.db', unsigned: true }`,
  'jobs/all.ts': `import { jobs } from 'treadle'
    jobs.define('says', ({ n }: { n: number }, ctx) => {
      ctx.log('began \\u001b[31m', { n })
      ctx.logger.warn('odd')
      if (n === 2) throw new Error('it was refused')
    }).tags('talk')
    jobs.define('quiet', () => {})`,
}

interface Sent {
  readonly id: string
}

it('logs are printed, as text and as JSON, and stand below the job in show', async () => {
  const project = new HostedProject(files)
  const { id } = (await project.json(['send', 'says', '{"n":1}'])) as Sent
  await project.call(['work', '--once', '--quiet'])
  const { out } = await project.call(['logs', id])
  expect(out).toMatch(/#1 info {3}began ␛\[31m {"n":1}\n.*#1 warn {3}odd\n$/)
  const lines = (await project.call(['logs', id, '--json', '--follow'])).out.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { line: 1, level: 'info', fields: { n: 1 } },
    { line: 2, level: 'warn', message: 'odd' },
  ])
  expect((await project.call(['logs', id, '--after', '1'])).out).not.toContain('began')
  expect((await project.call(['show', id])).out).toMatch(/tags +talk[\s\S]*2 log lines\n[\s\S]*warn {3}odd/)
  const { id: silent } = (await project.json(['send', 'quiet'])) as Sent
  expect(await project.call(['logs', silent])).toMatchObject({ code: 0, out: '', err: 'nothing was logged\n' })
})

it('jobs are found by tag and by a filter, one by one and in bulk', async () => {
  const project = new HostedProject(files)
  const ids: string[] = []
  for (const n of [1, 2, 3]) {
    const sent = (await project.json(['send', 'says', `{"n":${n}}`, '--tag', `number ${n}`])) as Sent
    ids.push(sent.id)
  }
  await project.json(['send', 'quiet'])
  await project.call(['work', '--once', '--quiet'])
  const listed = async (...args: readonly string[]) =>
    ((await project.json(['list', ...args])) as readonly Sent[]).map(({ id }) => id)
  expect(await listed('--tag', 'talk')).toEqual(ids.toReversed())
  expect(await listed('--tag', 'number 2')).toEqual([ids[1]])
  expect(await listed('--where', 'error:"was refused"')).toEqual([ids[1]])
  expect(await listed('--where', 'payload.n:3 since:1h')).toEqual([ids[2]])
  expect(await listed('--where', 'tag:talk -payload.n:3 state:succeeded')).toEqual([ids[0]])
  expect(await project.call(['list', '--where', 'colour:red'])).toMatchObject({ code: 2, err: expect.stringContaining('colour') })
  expect(await project.json(['retry', '--all', '--tag', 'talk', '--state', 'dead', '--dry-run'])).toEqual({ matching: 1 })
  expect(await project.json(['retry', '--all', '--where', 'error:refused', '--yes'])).toMatchObject({ left: {} })
  expect(await listed('--state', 'ready')).toEqual([ids[1]])
})

it('jobs with a key are paused and resumed, which status and why tell', async () => {
  const project = new HostedProject(files)
  const { id } = (await project.json(['send', 'says', '{"n":1}'])) as Sent
  expect((await project.call(['pause', '--job', 'says'])).out).toBe('paused jobs with the key says\n')
  await project.call(['work', '--once', '--quiet'])
  expect(await project.json(['show', id])).toMatchObject({ state: 'ready' })
  expect((await project.call(['status'])).out).toContain('paused')
  expect((await project.call(['why', id])).out).toContain('jobs with the key "says" are paused')
  expect(await project.json(['resume', '--job', 'says'])).toEqual({ resumed: ['says'], pausedJobs: [] })
  await project.call(['work', '--once', '--quiet'])
  expect(await project.json(['show', id])).toMatchObject({ state: 'succeeded' })
})
