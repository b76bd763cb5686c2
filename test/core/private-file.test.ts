import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readPrivateFile } from '../../src/core/files/private-file.ts'

const isPosix = process.platform !== 'win32'
const isRoot = process.geteuid?.() === 0
const somebodyElse = 54_321

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'treadle-private-'))
  path = join(folder, 'token')
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const read = (file = path) => readPrivateFile({ path: file, what: 'token file', code: 'CONFIG_INVALID' })

function refusal(file = path): string {
  let message = 'it was read'
  expect(() => {
    read(file)
  }).toThrow(
    expect.toSatisfy((thrown: { code: string; message: string }) => {
      message = thrown.message
      return thrown.code === 'CONFIG_INVALID'
    }),
  )
  return message
}

describe('a file that holds a secret', () => {
  it('is read where it is for its owner alone, and nothing is read where there is none', () => {
    expect(read()).toBeUndefined()
    writeFileSync(path, 'a secret', { mode: 0o600 })
    expect(read()).toBe('a secret')
    chmodSync(path, 0o400)
    expect(read()).toBe('a secret')
  })

  it.runIf(isPosix).each([0o604, 0o602, 0o601, 0o640, 0o620, 0o610, 0o644, 0o666, 0o777])(
    'is refused where its mode is %o, with the command that mends it',
    (mode) => {
      writeFileSync(path, 'a secret')
      chmodSync(path, mode)
      expect(refusal()).toBe(
        `The token file ${path} is not used: others may use it (its mode is ${mode.toString(8)}). Run: chmod 600 ${path}`,
      )
    },
  )

  it.runIf(isPosix)('is named in the command so that a shell understands it', () => {
    const odd = join(folder, "it's mine")
    writeFileSync(odd, 'a secret')
    chmodSync(odd, 0o644)
    expect(refusal(odd)).toContain(`chmod 600 '${folder}/it'\\''s mine'`)
  })

  it.runIf(isRoot)('is refused where it belongs to somebody else', () => {
    writeFileSync(path, 'a secret', { mode: 0o600 })
    chownSync(path, somebodyElse, somebodyElse)
    expect(refusal()).toContain(`it belongs to another user (${somebodyElse}). If it is yours, run: chown 0 ${path}`)
  })

  it.runIf(isPosix)('is refused in a folder in which everybody may replace it, unless only owners may', () => {
    writeFileSync(path, 'a secret', { mode: 0o600 })
    chmodSync(folder, 0o777)
    expect(refusal()).toContain(`chmod go-w ${folder}`)
    chmodSync(folder, 0o1777)
    expect(read()).toBe('a secret')
  })

  it.runIf(isPosix)('is refused in a folder below one in which everybody may replace folders', () => {
    const inner = join(folder, 'outer', 'inner')
    mkdirSync(inner, { recursive: true })
    writeFileSync(join(inner, 'token'), 'a secret', { mode: 0o600 })
    chmodSync(join(folder, 'outer'), 0o777)
    expect(refusal(join(inner, 'token'))).toContain(`chmod go-w ${join(folder, 'outer')}`)
    chmodSync(join(folder, 'outer'), 0o1777)
    expect(read(join(inner, 'token'))).toBe('a secret')
  })

  it.runIf(isRoot)('is refused where a group with other members may write to its folder or one above', () => {
    const inner = join(folder, 'inner')
    mkdirSync(inner)
    writeFileSync(join(inner, 'token'), 'a secret', { mode: 0o600 })
    for (const each of [inner, folder]) {
      chownSync(each, 0, somebodyElse)
      chmodSync(each, 0o770)
      expect(refusal(join(inner, 'token'))).toContain(`${each} may be written to by the group ${somebodyElse} (mode 770)`)
      chmodSync(each, 0o1770)
      expect(read(join(inner, 'token'))).toBe('a secret')
      chmodSync(each, 0o750)
      expect(read(join(inner, 'token'))).toBe('a secret')
    }
  })

  it.runIf(isRoot)('is refused in a folder of somebody else, unless that user is trusted', () => {
    onTestFinished(() => void vi.unstubAllEnvs())
    writeFileSync(path, 'a secret', { mode: 0o600 })
    chownSync(folder, somebodyElse, somebodyElse)
    expect(refusal()).toContain(`${folder} belongs to another user (${somebodyElse})`)
    vi.stubEnv('TREADLE_TRUSTED_OWNERS', String(somebodyElse))
    expect(read()).toBe('a secret')
    chownSync(path, somebodyElse, somebodyElse)
    expect(read()).toBe('a secret')
    vi.stubEnv('TREADLE_TRUSTED_OWNERS', '*')
    chmodSync(path, 0o640)
    expect(refusal()).toContain('its mode is 640')
  })

  it.runIf(isPosix)('is refused where a link on the way lies in a folder in which everybody may replace it', () => {
    for (const each of ['real', 'open', 'own']) mkdirSync(join(folder, each))
    writeFileSync(join(folder, 'real', 'token'), 'a secret', { mode: 0o600 })
    symlinkSync('../real', join(folder, 'open', 'middle'))
    symlinkSync('../open/middle', join(folder, 'own', 'first'))
    const linked = join(folder, 'own', 'first', 'token')
    expect(read(linked)).toBe('a secret')
    chmodSync(join(folder, 'open'), 0o777)
    expect(refusal(linked)).toContain(`chmod go-w ${join(folder, 'open')}`)
  })

  it.runIf(isPosix)('may be linked to, and what the link leads to counts', () => {
    const target = join(folder, 'target')
    mkdirSync(target)
    writeFileSync(join(target, 'token'), 'a secret', { mode: 0o600 })
    symlinkSync(join(target, 'token'), path)
    expect(read()).toBe('a secret')
    chmodSync(target, 0o777)
    expect(refusal()).toContain(`chmod go-w ${target}`)
    chmodSync(target, 0o700)
    chmodSync(join(target, 'token'), 0o640)
    expect(refusal()).toContain('its mode is 640')
  })

  it.runIf(isRoot)('is refused behind a link of somebody else', () => {
    const target = join(folder, 'target')
    writeFileSync(target, 'a secret', { mode: 0o600 })
    symlinkSync(target, path)
    lchownSync(path, somebodyElse, somebodyElse)
    expect(refusal()).toContain(
      `${path} belongs to another user (${somebodyElse}), who could put another file in its place. If it is yours, run: chown -h 0 ${path}`,
    )
  })

  it.runIf(isPosix)('is no pipe, which would be waited for, no folder and no device', () => {
    execFileSync('mkfifo', ['-m', '600', path])
    expect(refusal()).toContain('it is a pipe, not a file')
    expect(refusal(folder)).toContain('it is a folder, not a file')
    expect(refusal('/dev/null')).toContain('it is a device, not a file')
  })

  it.runIf(isPosix)('that leads to itself is named', () => {
    symlinkSync(path, path)
    expect(refusal()).toMatch(/cannot be read: ELOOP/)
  })
})
