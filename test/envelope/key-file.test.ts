import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { identityStart } from '../../src/envelope/envelope.ts'
import { existingKeys, keyFileText, keyRingFromFile, newKey, readKeyFile, replaceKeys } from '../../src/envelope/keys/key-file.ts'
import { KeyRing } from '../../src/envelope/keys/key-ring.ts'

const isPosix = process.platform !== 'win32'

function writePrivate(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
}

function identityOf({ job, queue }: { job: string; queue: string }): string {
  return identityStart('1') + JSON.stringify([job, job, queue, 0, 0, null, false, null, null]).slice(1)
}

function thrownBy(act: () => unknown): Error | undefined {
  try {
    act()
  } catch (thrown) {
    return thrown as Error
  }
  return undefined
}

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'treadle-key-'))
  path = join(folder, 'jobs.db.key')
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('a key file', () => {
  it('X21: is made where there is none, for its owner alone, and used from then on', () => {
    const signature = keyRingFromFile(path).sign('[]', '{}')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toMatch(/^k-[A-Za-z0-9_-]{8} [A-Za-z0-9_-]{43}\n$/)
    keyRingFromFile(path).verify('[]', '{}', signature)
    expect(readdirSync(folder)).toEqual(['jobs.db.key'])
  })

  it('has another key than the next one', () => {
    const other = keyRingFromFile(join(folder, 'other.key'))
    expect(() => other.verify('[]', '{}', keyRingFromFile(path).sign('[]', '{}'))).toThrow()
  })

  it('holds several keys for a rotation, the one that signs first', () => {
    writePrivate(path, '# rotated\n  # indented\nnew a-new-secret-long-enough\r\n\n  old an-old-secret-long-enough  \n')
    const keys = keyRingFromFile(path)
    expect(keys.sign('[]', '{}')).toMatch(/^new\./)
    keys.verify('[]', '{}', new KeyRing([{ id: 'old', secret: 'an-old-secret-long-enough' }]).sign('[]', '{}'))
  })

  it.each([
    ['is empty', ''],
    ['holds only a comment', '# key\n'],
    ['lacks the secret', 'k1\n'],
    ['has a word too many', 'k1 a-secret-that-is-long-enough more\n'],
    ['limits a key by a misspelt word', 'k1 a-secret-that-is-long-enough queue=mail\n'],
    ['limits a key to nothing', 'k1 a-secret-that-is-long-enough queues=\n'],
    ['limits a key twice', 'k1 a-secret-that-is-long-enough queues=a queues=b\n'],
    ['has a secret that is too short', 'k1 short\n'],
    ['lacks the id', 'a-secret-that-is-long-enough-and-is-not-told k1\n'],
    ['has an id of odd characters', '$a-secret-that-is-long-enough k1\n'],
    ['names a key twice', 'k1 a-secret-that-is-long-enough\nk1 another-that-is-long-enough\n'],
  ])('that %s is refused and left as it is', (_, text) => {
    writePrivate(path, text)
    for (const use of [() => keyRingFromFile(path).ready(), () => readKeyFile(path)]) {
      const refusal = thrownBy(use)
      expect(refusal).toMatchObject({ code: 'KEY_INVALID', message: expect.stringContaining(path) })
      for (const word of text.split(/\s+/).filter((word) => /^\$?an?-|^an/.test(word)))
        expect(refusal?.message).not.toContain(word)
    }
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('limits keys to queues and jobs', () => {
    writePrivate(path, 'mail a-secret-long-enough queues=mail,mail-* jobs=*.send\nall another-secret-long-enough\n')
    const keys = keyRingFromFile(path)
    expect(keys.sign(identityOf({ job: 'a.send', queue: 'mail-2' }), '{}')).toMatch(/^mail\./)
    expect(keys.sign(identityOf({ job: 'a.send', queue: 'reports' }), '{}')).toMatch(/^all\./)
    expect(keys.sign(identityOf({ job: 'a.sent', queue: 'mail' }), '{}')).toMatch(/^all\./)
    expect(keyFileText(readKeyFile(path) ?? [])).toBe(readFileSync(path, 'utf8'))
  })

  it('is neither made nor read before something is signed or verified', () => {
    const keys = keyRingFromFile(path)
    expect(existsSync(path)).toBe(false)
    keys.ready()
    expect(existsSync(path)).toBe(true)
  })

  it.runIf(isPosix)('that others may read is refused, with the command that mends it', () => {
    writePrivate(path, keyFileText([newKey()]))
    chmodSync(path, 0o640)
    const refused = () => keyRingFromFile(path).ready()
    expect(refused).toThrow(
      expect.objectContaining({ code: 'KEY_INVALID', message: expect.stringContaining(`chmod 600 ${path}`) }),
    )
    chmodSync(path, 0o600)
    refused()
  })

  it('that is a folder is named', () => {
    mkdirSync(path)
    const message = expect.stringContaining(isPosix ? 'it is a folder' : path)
    expect(() => keyRingFromFile(path).ready()).toThrow(expect.objectContaining({ code: 'KEY_INVALID', message }))
  })

  it.runIf(isPosix)('is not made through a link that leads nowhere', () => {
    symlinkSync(join(folder, 'elsewhere'), path)
    expect(() => keyRingFromFile(path).ready()).toThrow(
      expect.objectContaining({ code: 'KEY_INVALID', message: expect.stringContaining('leads nowhere') }),
    )
    expect(readdirSync(folder)).toEqual(['jobs.db.key'])
  })

  it.runIf(isPosix)('is not made where others could replace it', () => {
    chmodSync(folder, 0o777)
    expect(() => keyRingFromFile(path).ready()).toThrow(
      expect.objectContaining({ code: 'KEY_INVALID', message: expect.stringContaining(`chmod go-w ${folder}`) }),
    )
    expect(readdirSync(folder)).toEqual([])
  })

  it.runIf(isPosix && process.geteuid?.() === 0)('still belongs to its user after root has changed it', () => {
    writePrivate(path, keyFileText([newKey()]))
    chownSync(path, 54_321, 54_322)
    vi.stubEnv('SUDO_UID', '54321')
    onTestFinished(() => void vi.unstubAllEnvs())
    const before = existingKeys(path)
    replaceKeys(path, before, [...before, newKey()])
    expect(statSync(path)).toMatchObject({ uid: 54_321, gid: 54_322 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(existingKeys(path)).toHaveLength(2)
  })

  it('is changed by one program at a time, and never by one that has not seen the last change', () => {
    writePrivate(path, keyFileText([newKey()]))
    const before = existingKeys(path)
    const after = [...before, newKey()]
    const lock = `${realpathSync(path)}.lock`
    writePrivate(lock, '')
    const refusal = expect.objectContaining({ code: 'KEY_INVALID', message: expect.stringContaining(`delete ${lock}`) })
    expect(() => replaceKeys(path, before, after)).toThrow(refusal)
    rmSync(lock)
    replaceKeys(path, before, after)
    expect(() => replaceKeys(path, before, [...before, newKey()])).toThrow('changed by another program')
    expect(existingKeys(path)).toEqual(after)
    expect(readdirSync(folder)).toEqual(['jobs.db.key'])
  })

  it('in a folder that is not there is named, with what to do', () => {
    const missing = join(folder, 'missing', 'jobs.db.key')
    expect(() => keyRingFromFile(missing).ready()).toThrow(
      expect.objectContaining({
        code: 'KEY_INVALID',
        message: expect.stringMatching(/cannot be written .* or give a signingKey/),
      }),
    )
  })

  it('is the same for all programs that start at once', async () => {
    const paths = Array.from({ length: 25 }, (_, index) => join(folder, `${index}.key`))
    const programs = await Promise.all(Array.from({ length: 3 }, () => startSigning(paths)))
    const signatures = await Promise.all(programs.map((program) => program.sign()))
    for (const each of signatures.slice(1)) expect(each).toEqual(signatures[0])
    expect(readdirSync(folder)).toHaveLength(paths.length)
  })
})

/** Another process that is ready to sign with the keys of these files, and makes them at the moment when it is told to. */
async function startSigning(paths: readonly string[]) {
  const module = new URL('../../build/envelope/keys/key-file.js', import.meta.url).href
  const script = `
    const { keyRingFromFile } = await import(${JSON.stringify(module)})
    process.send('ready')
    process.once('message', (paths) => {
      process.send(paths.map((path) => keyRingFromFile(path).sign('[]', '{}')))
      process.disconnect()
    })
  `
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return {
    sign: async () => {
      child.send(paths)
      const [signatures] = await once(child, 'message')
      return signatures as readonly string[]
    },
  }
}
