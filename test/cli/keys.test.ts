import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Project } from './project.ts'

const config = { 'treadle.config.mjs': `export default { url: 'sqlite:jobs.db' }` }

interface Listed {
  readonly keys: readonly { readonly id: string; readonly signs: boolean; readonly livingJobs: number | null }[]
  readonly unsignedJobs: number | null
}

const listed = async (project: Project, args: readonly string[] = []) => (await project.json(['keys', ...args])) as Listed
const idsOf = ({ keys }: Listed) => keys.map(({ id }) => id)
const text = (project: Project, file = 'jobs.db.key') => readFileSync(project.path(file), 'utf8')

describe('treadle keys', () => {
  it('makes a key file for its owner alone, once, and lists it without its secrets', async () => {
    const project = new Project(config)
    const missing = await project.call(['keys'])
    expect(missing).toMatchObject({ code: 4, err: expect.stringContaining('treadle keys create') })
    expect(await project.call(['keys', 'create'])).toMatchObject({ code: 0 })
    expect(statSync(project.path('jobs.db.key')).mode & 0o777).toBe(0o600)
    const again = await project.call(['keys', 'create'])
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('already') })
    const secret = text(project).split(' ')[1]?.trim() as string
    for (const args of [['keys'], ['keys', 'list'], ['keys', '--json'], ['keys', 'add']]) {
      const { code, out, err } = await project.call(args)
      expect({ code, leaks: (out + err).includes(secret) }).toEqual({ code: 0, leaks: false })
    }
    expect((await project.call(['keys', 'export'])).out).toContain(secret)
  })

  it('is not made anew while jobs wait that the lost one has signed', async () => {
    const project = new Project({ ...config, 'jobs/mail.mjs': `import { jobs } from 'treadle'\njobs.define('mail', () => {})` })
    await project.call(['send', 'mail', '{}'])
    const [key] = idsOf(await listed(project)) as [string]
    rmSync(project.path('jobs.db.key'))
    for (const args of [['run'], ['send', 'mail', '{}']]) {
      const refused = await project.call(args)
      expect(refused.code).not.toBe(0)
      expect(refused.err).toContain(`signed with its key "${key}"`)
    }
    expect(await project.json(['status'])).toMatchObject({ queues: [{ counts: { ready: 1 } }] })
    await project.call(['keys', 'create'])
    expect(await project.call(['run'])).toMatchObject({ code: 3 })
  })

  it('rotates: a key is added, signs, and the old one is retired when no living job needs it', async () => {
    const project = new Project(config)
    await project.call(['send', 'mail', '{}', '--force'])
    const [old] = idsOf(await listed(project)) as [string]
    await project.call(['keys', 'add'])
    const [, fresh] = idsOf(await listed(project)) as [string, string]
    expect((await listed(project)).keys).toMatchObject([
      { id: old, signs: true, livingJobs: 1 },
      { id: fresh, signs: false, livingJobs: 0 },
    ])
    await project.call(['keys', 'sign', fresh])
    expect(idsOf(await listed(project))).toEqual([fresh, old])
    await project.call(['send', 'mail', '{}', '--force'])
    expect((await listed(project)).keys.map(({ livingJobs }) => livingJobs)).toEqual([1, 1])
    const before = text(project)
    const refused = await project.call(['keys', 'retire', old])
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${old} is still needed: without it, 1 unfinished job would be rejected`),
    })
    expect(text(project)).toBe(before)
    expect(await project.call(['keys', 'retire', old, '--force'])).toMatchObject({ code: 0 })
    expect(idsOf(await listed(project))).toEqual([fresh])
    expect((await project.call(['keys'])).out).toContain(`1 unfinished job signed with the unknown key ${old}`)
    expect(statSync(project.path('jobs.db.key')).mode & 0o777).toBe(0o600)
  })

  it('limits keys, and never retires the only one', async () => {
    const project = new Project(config)
    await project.call(['keys', 'create', '--queue', 'mail,mail-*', '--job', '*.send'])
    expect(text(project)).toMatch(/^k-\S+ \S+ queues=mail,mail-\* jobs=\*\.send\n$/)
    const [id] = idsOf(await listed(project)) as [string]
    expect(await project.call(['keys', 'retire', id, '--force'])).toMatchObject({ code: 1 })
    expect(await project.call(['send', 'a.send', '{}', '--queue', 'mail', '--force'])).toMatchObject({ code: 0 })
    const other = await project.call(['send', 'report', '{}', '--force'])
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining('[KEY_INVALID]') })
  })

  it('works on a file without a config, and retires there only what is known to be needed by nobody', async () => {
    const project = new Project()
    const file = ['--file', 'shared.key']
    await project.call(['keys', 'create', ...file])
    await project.call(['keys', 'add', ...file])
    const keys = await listed(project, file)
    expect(keys.keys.map(({ livingJobs }) => livingJobs)).toEqual([null, null])
    const [first] = idsOf(keys) as [string]
    const refused = await project.call(['keys', 'retire', first, ...file])
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('--force') })
    expect(await project.call(['keys', 'retire', 'nobody', ...file])).toMatchObject({ code: 4 })
    const signing = { TREADLE_SIGNING_KEY_FILE: project.path('shared.key') }
    const sent = await project.call(['send', 'mail', '{}', '--force', '--url', 'sqlite:other.db'], { env: signing })
    expect(sent).toMatchObject({ code: 0 })
    const usage = (await project.json(['keys', ...file, '--url', 'sqlite:other.db'])) as Listed
    expect(usage.keys.map(({ livingJobs }) => livingJobs)).toEqual([1, 0])
  })

  it('is told where a queue has no key file of its own', async () => {
    const { code, err } = await new Project().call(['keys', '--url', 'postgres://127.0.0.1:1/none'])
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('--file PATH') })
  })

  it.runIf(process.platform !== 'win32')('refuses a file that others may read, as programs do', async () => {
    const project = new Project(config)
    await project.call(['keys', 'create'])
    chmodSync(project.path('jobs.db.key'), 0o644)
    const { code, err } = await project.call(['keys'])
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('chmod 600') })
  })
})

describe('commands that only look, or change nothing that is signed', () => {
  it('neither make nor read a key', async () => {
    const project = new Project(config)
    await project.call(['send', 'mail', '{}', '--force', '--delay', '1h'])
    const [{ id }] = (await project.json(['list'])) as [{ id: string }]
    const key = text(project)
    // Whoever read it would be refused.
    chmodSync(project.path('jobs.db.key'), 0o644)
    for (const args of [
      ['status'],
      ['list'],
      ['show', id],
      ['dead', 'list'],
      ['why', id],
      ['tree', id],
      ['workers'],
      ['next'],
      ['doctor'],
      ['prune'],
      ['pause', 'mail'],
      ['resume', 'mail'],
      ['cancel', id],
      ['retry', id],
    ]) {
      expect(await project.call(args), args.join(' ')).toMatchObject({ code: 0 })
    }
    const sent = await project.call(['send', 'mail', '{}', '--force'])
    expect(sent).toMatchObject({ code: 1, err: expect.stringContaining('[KEY_INVALID]') })
    expect(text(project)).toBe(key)
  })
})
