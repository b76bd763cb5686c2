import { describe, expect, it } from 'vitest'
import { jobProject, Project } from './project.ts'

describe('the command line refuses', () => {
  it.each(['--key', '--unique'])('an empty %s, which would drop the protection that was asked for', async (option) => {
    const project = jobProject()
    const { code, err } = await project.call(['send', 'add', '{}', option, ''])
    expect(code).not.toBe(0)
    expect(err).toContain('must be a text of 1 to 512 characters')
    expect(await project.json(['list'])).toEqual([])
  })

  it('in check, a URL that no backend opens, without its password', async () => {
    const project = new Project({ 'treadle.config.mjs': `export default { url: 'postgres://ada:secret@db/app' }` })
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
})
