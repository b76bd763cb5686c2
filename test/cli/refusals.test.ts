import { existsSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { jobProject, Project } from './project.ts'

describe('the command line refuses', () => {
  it.each(['--key', '--unique'])('an empty %s, which would drop the protection that was asked for', async (option) => {
    const project = jobProject()
    const { code, err } = await project.call(['send', 'add', '{}', option, ''])
    expect(code).toBe(2)
    expect(err).toContain('It must be a string of 1 to 512 characters')
    expect(existsSync(project.path('jobs.db'))).toBe(false)
  })

  it('in check, a URL that no backend opens, without its password', async () => {
    const project = new Project({ 'treadle.config.mjs': `export default { url: 'mongodb://ada:secret@db/app' }` })
    const { code, out, err } = await project.call(['check'])
    expect(code).toBe(1)
    expect(out + err).toContain('No backend opens')
    expect(out + err).not.toContain('secret')
  })

  it.each([
    ['postgre://ada@db/app', 'Did you mean postgres:?'],
    ['jobs.db', 'A file is named as sqlite:FILE.'],
    ['file:jobs.db', 'A file is named as sqlite:FILE.'],
  ])('the URL %s, with what was probably meant', async (url, meant) => {
    const { code, err } = await jobProject().call(['status', '--url', url])
    expect(code).toBe(1)
    expect(err).toContain(`No backend opens "${url}". ${meant} Known: `)
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

  it('to look into a database with an older schema, and leaves that as it is', async () => {
    const project = jobProject()
    const { version } = (await project.json(['migrate', '--to', '5'])) as { version: number }
    const older = {
      code: 1,
      out: '',
      err: expect.stringMatching(/has schema version .* Run: npx treadle migrate \[SCHEMA_OUTDATED\]/),
    }
    for (const line of [
      'list',
      'list --schedules',
      'status',
      'workers',
      'show x',
      'why x',
      'tree x',
      'dead list',
      'next yearly',
    ]) {
      expect(await project.call(line.split(' ')), line).toEqual(older)
    }
    const instance = `import { treadle } from 'treadle'\nexport default treadle('sqlite:jobs.db')`
    project.write('treadle.config.ts', instance)
    expect(await project.call(['list'])).toEqual(older)
    expect(await project.json(['migrate', '--plan'])).toMatchObject({ version })
    await project.call(['migrate'])
    expect(await project.call(['list'])).toMatchObject({ code: 0, out: 'no jobs\n' })
  })

  it('nothing of an empty file, which it leaves empty', async () => {
    const project = jobProject()
    project.write('jobs.db', '')
    expect(await project.call(['list'])).toMatchObject({ code: 0, out: 'no jobs\n' })
    expect(await project.call(['status'])).toMatchObject({ code: 0, out: expect.stringContaining('no jobs yet') })
    expect(statSync(project.path('jobs.db')).size).toBe(0)
  })

  it('no backend that a program was given, whatever its URL would be', async () => {
    const project = new Project({
      'treadle.config.ts': `import { treadle } from 'treadle'
export default treadle({ backend: await treadle('memory:').open() })`,
    })
    expect(await project.call(['list'])).toMatchObject({ code: 0, out: 'no jobs\n' })
  })
})
