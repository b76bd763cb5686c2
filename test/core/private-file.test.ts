import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, lchownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readPrivateFile } from '../../src/core/private-file.ts'

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
    expect(refusal()).toContain(`it belongs to another user (${somebodyElse}). Run: chown 0 ${path}`)
  })

  it.runIf(isPosix)('is refused in a folder in which everybody may replace it, unless only owners may', () => {
    writeFileSync(path, 'a secret', { mode: 0o600 })
    chmodSync(folder, 0o777)
    expect(refusal()).toContain(`chmod o-w ${folder}`)
    chmodSync(folder, 0o1777)
    expect(read()).toBe('a secret')
  })

  it.runIf(isPosix)('may be linked to, and what the link leads to counts', () => {
    const target = join(folder, 'target')
    mkdirSync(target)
    writeFileSync(join(target, 'token'), 'a secret', { mode: 0o600 })
    symlinkSync(join(target, 'token'), path)
    expect(read()).toBe('a secret')
    chmodSync(target, 0o777)
    expect(refusal()).toContain(`chmod o-w ${target}`)
    chmodSync(target, 0o700)
    chmodSync(join(target, 'token'), 0o640)
    expect(refusal()).toContain('its mode is 640')
  })

  it.runIf(isRoot)('is refused behind a link of somebody else', () => {
    const target = join(folder, 'target')
    writeFileSync(target, 'a secret', { mode: 0o600 })
    symlinkSync(target, path)
    lchownSync(path, somebodyElse, somebodyElse)
    expect(refusal()).toContain(`it is a link that belongs to another user (${somebodyElse})`)
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
