import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { findConfigFile, loadConfigFile } from '../../src/app/config/config-file.ts'
import { tryJobFiles } from '../../src/app/loading/job-files.ts'
import { trustProblem } from '../../src/core/files/file-trust.ts'

const isRoot = process.geteuid?.() === 0
const nobody = 65_534
const ran = globalThis as { untrustedRan?: boolean }
const hostile = 'globalThis.untrustedRan = true\nexport default {}\n'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'trust-')))
  ran.untrustedRan = false
})
afterEach(() => {
  rmSync(folder, { recursive: true })
  expect(ran.untrustedRan).toBe(false)
})

function write(path: string, text = hostile): string {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o644 })
  return file
}

function refused(message: RegExp) {
  return expect.objectContaining({ code: 'FILE_UNTRUSTED', message: expect.stringMatching(message) })
}

describe.skipIf(process.platform === 'win32')('a config file', () => {
  it('that everybody may write is not run, and the message says what to do', async () => {
    const file = write('treadle.config.mjs')
    chmodSync(file, 0o666)
    await expect(loadConfigFile(file)).rejects.toThrow(refused(/written to by everybody \(mode 666\).* Run: chmod go-w /))
  })

  it('in a folder that everybody may write is not run', async () => {
    const file = write('inner/treadle.config.mjs')
    chmodSync(dirname(file), 0o777)
    await expect(loadConfigFile(file)).rejects.toThrow(refused(/inner may be written to by everybody/))
  })

  it('in a folder below one that everybody may write is not run', async () => {
    const file = write('outer/inner/treadle.config.mjs')
    chmodSync(join(folder, 'outer'), 0o777)
    await expect(loadConfigFile(file)).rejects.toThrow(refused(/outer may be written to by everybody/))
  })

  it.runIf(isRoot)('of a group that is trusted by name is used, whoever of it has written it, and of no other group', () => {
    const file = write('treadle.config.mjs')
    vi.stubEnv('TREADLE_TRUSTED_OWNERS', '1234,group:4321')
    onTestFinished(() => void vi.unstubAllEnvs())
    chmodSync(file, 0o664)
    for (const [user, group, isTrusted] of [
      [0, 4321, true],
      [nobody, 4321, true],
      [1234, 4321, true],
      [1234, 1234, false],
      [nobody, nobody, false],
      [0, 1234, false],
    ] as const) {
      chownSync(file, user, group)
      expect([user, group, trustProblem(file) === undefined]).toEqual([user, group, isTrusted])
    }
    chmodSync(file, 0o666)
    chownSync(file, 0, 4321)
    expect(trustProblem(file)).toMatch(/written to by everybody/)
    // Anyone can create a file of that group where the folder hands its group on.
    chmodSync(file, 0o664)
    chownSync(file, nobody, 4321)
    chownSync(folder, 0, 4321)
    chmodSync(folder, 0o3777)
    expect(trustProblem(file)).toMatch(/belongs to another user/)
    chmodSync(folder, 0o2770)
    expect(trustProblem(file)).toBeUndefined()
  })

  it.runIf(isRoot)('of a group with other members is not run when that may write it', async () => {
    const file = write('treadle.config.mjs')
    chownSync(file, 0, nobody)
    chmodSync(file, 0o664)
    await expect(loadConfigFile(file)).rejects.toThrow(refused(/written to by the group 65534/))
    chmodSync(file, 0o644)
    expect(trustProblem(file)).toBeUndefined()
  })

  it.runIf(isRoot)('of another user is not run, also in a folder above', async () => {
    const file = write('treadle.config.mjs')
    chownSync(file, nobody, nobody)
    mkdirSync(join(folder, 'sub'))
    const found = findConfigFile(join(folder, 'sub'))
    expect(found).toBe(file)
    await expect(loadConfigFile(file)).rejects.toThrow(refused(/belongs to another user \(65534\).* chown 0 .*OWNERS=65534/))
  })

  it('is looked for where the system opens it: `..` behind a link leads above its target', () => {
    write('open/jobs.mjs')
    mkdirSync(join(folder, 'open', 'inner'))
    mkdirSync(join(folder, 'safe'))
    symlinkSync(join('..', 'open', 'inner'), join(folder, 'safe', 'link'))
    expect(trustProblem(`${folder}/safe/link/../jobs.mjs`)).toBeUndefined()
    chmodSync(join(folder, 'open'), 0o777)
    expect(trustProblem(`${folder}/safe/link/../jobs.mjs`)).toMatch(/open may be written to by everybody/)
    symlinkSync('link/../jobs.mjs', join(folder, 'safe', 'jobs.mjs'))
    expect(trustProblem(`${folder}/safe/jobs.mjs`)).toMatch(/open may be written to by everybody/)
  })

  it.runIf(isRoot)('that a link of another user leads to is not run', async () => {
    const file = write('real/treadle.config.mjs')
    mkdirSync(join(folder, 'links'))
    chmodSync(join(folder, 'links'), 0o1777)
    const link = join(folder, 'links', 'treadle.config.mjs')
    symlinkSync(file, link)
    lchownSync(link, nobody, nobody)
    await expect(loadConfigFile(link)).rejects.toThrow(refused(/links\/treadle.config.mjs belongs to another user/))
  })

  it('that is reached through a link in a folder that everybody may write is not run', async () => {
    const file = write('real/treadle.config.mjs')
    mkdirSync(join(folder, 'open'))
    symlinkSync(dirname(file), join(folder, 'open', 'middle'))
    symlinkSync(join(folder, 'open', 'middle'), join(folder, 'first'))
    chmodSync(join(folder, 'open'), 0o777)
    const linked = join(folder, 'first', 'treadle.config.mjs')
    await expect(loadConfigFile(linked)).rejects.toThrow(refused(/open may be written to by everybody/))
  })

  it.runIf(isRoot)('of a user who is trusted is run', async () => {
    onTestFinished(() => void vi.unstubAllEnvs())
    const file = write('treadle.config.mjs', 'export default {}\n')
    chownSync(file, nobody, nobody)
    vi.stubEnv('TREADLE_TRUSTED_OWNERS', '12, 65534')
    expect(await loadConfigFile(file)).toMatchObject({ config: {} })
    vi.stubEnv('TREADLE_TRUSTED_OWNERS', '12')
    expect(trustProblem(file)).toContain('belongs to another user')
    vi.stubEnv('TREADLE_TRUSTED_OWNERS', '*')
    expect(trustProblem(file)).toBeUndefined()
    vi.stubEnv('TREADLE_TRUSTED_OWNERS', '')
    vi.stubEnv('SUDO_UID', String(nobody))
    expect(trustProblem(file)).toBeUndefined()
  })

  it('below a folder with the sticky bit is run', async () => {
    const file = write('shared/own/treadle.config.mjs', 'export default {}\n')
    chmodSync(join(folder, 'shared'), 0o1777)
    expect(await loadConfigFile(file)).toMatchObject({ config: {} })
  })
})

describe('the search for a config file', () => {
  it('ends at the root of the repository', () => {
    write('treadle.config.mjs')
    mkdirSync(join(folder, 'repository', '.git'), { recursive: true })
    mkdirSync(join(folder, 'repository', 'sub'))
    expect(findConfigFile(join(folder, 'repository', 'sub'))).toBeNull()
    const own = write('repository/treadle.config.mjs')
    expect(findConfigFile(join(folder, 'repository', 'sub'))).toBe(own)
  })

  it('ends at the home folder', () => {
    onTestFinished(() => void vi.unstubAllEnvs())
    write('treadle.config.mjs')
    mkdirSync(join(folder, 'home', 'sub'), { recursive: true })
    vi.stubEnv('HOME', join(folder, 'home'))
    expect(findConfigFile(join(folder, 'home', 'sub'))).toBeNull()
  })

  it.skipIf(process.platform === 'win32')('ends below a folder in which everybody may write', () => {
    write('shared/treadle.config.mjs')
    mkdirSync(join(folder, 'shared', 'own'))
    chmodSync(join(folder, 'shared'), 0o1777)
    expect(findConfigFile(join(folder, 'shared', 'own'))).toBeNull()
  })
})

describe.skipIf(process.platform === 'win32')('a folder with jobs', () => {
  const target = { define: () => expect.fail('nothing is defined'), has: () => false }

  it('of which one file may be written by others loads none', async () => {
    write('jobs/sound.mjs')
    chmodSync(write('jobs/lib/helper.mjs'), 0o666)
    const { files, problems } = await tryJobFiles(target as never, [join(folder, 'jobs')])
    expect(files).toEqual([])
    expect(problems).toEqual([refused(/helper.mjs may be written to by everybody/)])
  })

  it('in a folder that everybody may write is one problem, however many files are in it', async () => {
    for (const name of ['a', 'b', 'c']) write(`jobs/${name}.mjs`)
    chmodSync(join(folder, 'jobs'), 0o777)
    const { files, problems } = await tryJobFiles(target as never, [join(folder, 'jobs')])
    expect([files, problems]).toEqual([[], [refused(/jobs may be written to by everybody/)]])
  })

  it('loads neither hidden files nor tests', async () => {
    for (const name of [
      '.hidden.mjs',
      'a.test.mjs',
      'b.SPEC.mjs',
      '__tests__/c.mjs',
      '__mocks__/d.mjs',
      'e.d.mts',
      '.git/f.mjs',
    ]) {
      write(`jobs/${name}`)
    }
    expect(await tryJobFiles(target as never, [join(folder, 'jobs')])).toEqual({ files: [], problems: [] })
  })

  it('named as a file is looked at in the same way', async () => {
    const file = write('jobs/one.mjs')
    chmodSync(file, 0o646)
    const { problems } = await tryJobFiles(target as never, [file])
    expect(problems).toEqual([refused(/one.mjs may be written to by everybody/)])
  })
})

describe.skipIf(process.platform === 'win32')('a pipe in the place of a file', () => {
  it('is refused before the program waits for someone who writes to it', async () => {
    const pipe = join(folder, 'treadle.config.ts')
    execFileSync('mkfifo', ['-m', '600', pipe])
    await expect(loadConfigFile(pipe)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: `${pipe} is a pipe, not a file` })
    const { problems } = await tryJobFiles(null as never, [pipe])
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('is a pipe, not a file')])
  })
})
