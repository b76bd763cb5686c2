import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { jobProject, Project } from './project.ts'

describe('the command line refuses', () => {
  it.each(['--key', '--unique'])('an empty %s, which would drop the protection that was asked for', async (option) => {
    const project = jobProject()
    const { code, err } = await project.call(['send', 'add', '{}', option, ''])
    expect(code).toBe(2)
    expect(err).toContain('It must be a text of 1 to 512 characters')
    expect(existsSync(project.path('jobs.db'))).toBe(false)
  })

  it('in check, a URL that no backend opens, without its password', async () => {
    const project = new Project({ 'treadle.config.mjs': `export default { url: 'mongodb://ada:secret@db/app' }` })
    const { code, out, err } = await project.call(['check'])
    expect(code).toBe(1)
    expect(out + err).toContain('No backend opens')
    expect(out + err).not.toContain('secret')
  })

  it('to work on nothing, before it says that it works', async () => {
    const project = new Project({ 'treadle.config.mjs': `export default { url: 'sqlite:jobs.db' }` })
    const { code, out, err } = await project.call(['work'])
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toContain('no job is defined')
    expect(err).not.toContain('working on')
  })

  const looks = ['list', 'list --schedules', 'status', 'workers', 'show x', 'dead list', 'prune', 'forget x --yes']

  it.each(looks)('to look into a database that does not exist, and makes none: treadle %s', async (line) => {
    const project = jobProject()
    const { code, out, err } = await project.call(line.split(' '))
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(err).toContain(`There is no database at ${project.path('jobs.db')}.`)
    expect(err).toContain('[DATABASE_NOT_FOUND]')
    expect(existsSync(project.path('jobs.db'))).toBe(false)
  })

  it('the same of a database that --url names, or a program that is set up already', async () => {
    const project = jobProject()
    expect(await project.call(['status', '--url', 'sqlite:typo.db'])).toMatchObject({ code: 4 })
    expect(existsSync(project.path('typo.db'))).toBe(false)
    project.write('treadle.config.ts', `import { treadle } from 'treadle'\nexport default treadle('sqlite:own.db')`)
    expect(await project.call(['run', '--dry-run'])).toMatchObject({ code: 4, err: expect.stringContaining('own.db') })
    expect(existsSync(project.path('own.db'))).toBe(false)
  })

  it('no backend that a program was given, whatever its URL would be', async () => {
    const project = new Project({
      'treadle.config.ts': `import { treadle } from 'treadle'
export default treadle({ backend: await treadle('memory:').open() })`,
    })
    expect(await project.call(['list'])).toMatchObject({ code: 0, out: 'no jobs\n' })
  })
})
