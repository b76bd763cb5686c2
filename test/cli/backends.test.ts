import { describe, expect, test } from 'vitest'
import { HostedProject } from './hosted-project.ts'

const files = {
  'treadle.config.mjs': `export default {
    backends: { default: 'sqlite:jobs.db', fast: 'sqlite:fast.db' },
    jobs: ['jobs.mjs'],
  }`,
  'jobs.mjs': `import { jobs } from 'treadle'
    jobs.define('slow', async () => {})
    jobs.define('quick', async () => {}).backend('fast')`,
}

describe('with several backends', () => {
  test('--backend names the one that a command is for', async () => {
    const project = new HostedProject(files)
    expect(await project.call(['send', 'slow'])).toMatchObject({ code: 0 })
    expect(await project.call(['send', 'quick'])).toMatchObject({ code: 0 })
    expect(await project.call(['send', 'slow', '--backend', 'fast'])).toMatchObject({ code: 0 })
    const jobsIn = async (...more: string[]) => {
      const { out } = await project.call(['list', '--json', ...more])
      return (JSON.parse(out) as { job: string }[]).map(({ job }) => job)
    }
    expect(await jobsIn()).toEqual(['slow'])
    expect(await jobsIn('--backend', 'fast')).toEqual(['slow', 'quick'])
    expect(await jobsIn('--backend', 'default')).toEqual(['slow'])
    const all = await project.call(['status'])
    expect(all.out).toContain('backend fast')
    const one = await project.call(['status', '--backend', 'fast'])
    expect(one.out).toContain('sqlite:fast.db')
    expect(one.out).not.toContain('jobs.db')
  })

  test('a worker says what it works on, and one for an unknown backend does not begin', async () => {
    const project = new HostedProject(files)
    expect((await project.call(['work', '--once', '--backend', 'fast'])).out).toContain('working on sqlite:fast.db\n')
    expect((await project.call(['work', '--once'])).out).toContain('working on sqlite:jobs.db, sqlite:fast.db\n')
    const unknown = await project.call(['work', '--once', '--backend', 'slow'])
    expect(unknown).toMatchObject({ code: 1, out: '' })
    expect(unknown.err).toContain('known: default, fast')
  })
})
