import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Project } from './project.ts'

const jobsText = `import { jobs } from 'treadle'
jobs.define('add', ({ a, b }: { a: number; b: number }) => a + b).queue('sums')
jobs.define('fail', () => { throw new Error('the \\u001b[31mcard\\u001b[0m was declined') }).retries(0)
`

/** With a queue: one that was never used has no database to listen to. */
async function project(): Promise<Project> {
  const made = new Project({ 'jobs/all.ts': jobsText, 'treadle.config.ts': `export default { url: 'sqlite:jobs.db' }` })
  await made.call(['send', 'fail'])
  return made
}

describe('treadle events', () => {
  it('follows what other programs do, and stops at Ctrl-C', async () => {
    const here = await project()
    const following = here.start(['events'])
    await following.says('listening')
    await here.call(['send', 'add', '{"a":1,"b":2}'])
    await here.call(['run', '--fail-on', 'never'])
    await following.says('the ␛[31mcard')
    following.child.kill('SIGINT')
    const { code, out } = await following.ended
    expect(code).toBe(0)
    expect(out).toContain('add')
    expect(out).not.toContain('\u001b')
  })

  it('ends with a failure if the database file is deleted', async () => {
    const here = await project()
    const following = here.start(['events'])
    await following.says('listening')
    rmSync(here.path('jobs.db'))
    expect(await following.ended).toMatchObject({ code: 1, err: expect.stringContaining('[DATABASE_REPLACED]') })
  })

  it('writes one JSON object a line, of the events that were asked for', async () => {
    const here = await project()
    const following = here.start(['events', '--json', '--job', 'add', '--type', 'job:succeeded', '--with', 'payload', 'result'])
    await following.says('listening')
    await here.call(['send', 'add', '{"a":1,"b":2}'])
    await here.call(['run', '--fail-on', 'never'])
    await following.says('job:succeeded')
    following.child.kill('SIGTERM')
    const lines = (await following.ended).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toEqual([
      expect.objectContaining({ type: 'job:succeeded', job: 'add', queue: 'sums', payload: { a: 1, b: 2 }, result: 3 }),
    ])
  })

  it('tells of waiting jobs that another command cancels', async () => {
    const here = await project()
    const following = here.start(['events', '--json', '--type', 'job:cancelled'])
    await following.says('listening')
    await here.call(['send', 'add', '{"a":1,"b":2}'])
    await here.call(['cancel', '--all', '--job', 'add', '--yes'])
    await following.says('job:cancelled')
    following.child.kill('SIGTERM')
    const { out } = await following.ended
    expect(JSON.parse(out)).toMatchObject({ type: 'job:cancelled', job: 'add', queue: 'sums', attempt: 0 })
  })

  it('refuses an event that there is none of, with those that there are', async () => {
    const { code, err } = await (await project()).call(['events', '--type', 'job:exploded'])
    expect(code).toBe(2)
    expect(err).toContain('job:succeeded')
  })
})
