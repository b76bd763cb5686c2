import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { type ErrorCode, type TreadleError, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { execute, faultsOf, query, scratchFolder } from '../processes/database.ts'
import { endPrograms, startProgram } from '../processes/program.ts'
import { expectRefusal, opened, refusalOf } from './refusal.ts'

let folder: ReturnType<typeof scratchFolder>
let path: string
beforeEach(() => {
  folder = scratchFolder()
  path = folder.file('jobs.db')
})
afterEach(async () => {
  await endPrograms()
  folder.remove()
})

describe('a file that is no sound database is one clear error, and stays as it is', () => {
  test('random bytes', async () => {
    writeFileSync(path, Buffer.from('this is not a database. '.repeat(500)))
    await expectUntouched('DATABASE_CORRUPT', /not a sound SQLite database.*backup/)
  })

  test('a database that was cut short', async () => {
    await made(2_000)
    const copy = folder.file('copy.db')
    execute(path, `VACUUM INTO '${copy}'`)
    path = copy
    truncateSync(path, 100_000)
    await expectUntouched('DATABASE_CORRUPT', /not a sound SQLite database.*backup/)
  })

  test('a database with a page of nonsense in the middle', async () => {
    await made(2_000)
    const copy = folder.file('copy.db')
    execute(path, `VACUUM INTO '${copy}'`)
    path = copy
    const bytes = readFileSync(path)
    bytes.fill(0xa5, 4_096, bytes.length)
    writeFileSync(path, bytes)
    const jobs = treadle(`sqlite:${path}`)
    await expectRefusal(() => jobs.declare('count').dispatch(1), 'DATABASE_CORRUPT', /not a sound SQLite database.*backup/)
    await jobs.close()
  })

  test('a folder', async () => {
    mkdirSync(path)
    writeFileSync(`${path}/note.txt`, 'kept')
    await expectRefusal(() => opened(`sqlite:${path}`), 'DATABASE_UNWRITABLE', /cannot be opened.*folder exists/)
    expect(readdirSync(path)).toEqual(['note.txt'])
  })

  test('opening it again and again keeps no file open', async () => {
    writeFileSync(path, Buffer.from('this is not a database. '.repeat(500)))
    for (let attempt = 0; attempt < 20; attempt++) await refusalOf(() => opened(`sqlite:${path}`))
    const target = path
    expect(openFiles().filter((name) => name === target)).toEqual([])
  })

  async function expectUntouched(code: ErrorCode, says: RegExp): Promise<void> {
    const before = readFileSync(path)
    await expectRefusal(() => opened(`sqlite:${path}`), code, says)
    expect(readFileSync(path).equals(before)).toBe(true)
  }

  async function made(count: number): Promise<void> {
    const jobs = treadle(`sqlite:${path}`)
    await jobs.declare('count').dispatchMany(Array.from({ length: count }, (_, number) => ({ number })))
    await jobs.close()
  }
})

describe('a place that cannot be written to is one clear error', () => {
  test.each([
    { what: 'a folder that does not exist', below: 'missing/jobs.db' },
    { what: 'a path below a file', below: 'note.txt/jobs.db' },
  ])('$what', async ({ below }) => {
    writeFileSync(folder.file('note.txt'), 'kept')
    await expectRefusal(() => opened(`sqlite:${folder.file(below)}`), 'DATABASE_UNWRITABLE', /Check that its folder exists/)
    expect(readdirSync(folder.path)).toEqual(['note.txt'])
  })

  test.runIf(process.platform === 'linux')('a folder that belongs to the system alone', async () => {
    await expectRefusal(() => opened('sqlite:/proc/treadle-jobs.db'), 'DATABASE_UNWRITABLE', /Check that its folder exists/)
  })

  // Root may do everything, so these run in a program that is not root.
  test.runIf(process.platform !== 'win32').each(['folder', 'file'])('a read-only %s', async (kind) => {
    mkdirSync(folder.file('shared'))
    mkdirSync(folder.file('scratch'), { mode: 0o777 })
    path = folder.file('shared/jobs.db')
    const made = treadle(`sqlite:${path}`)
    await made.declare('count').dispatch('kept')
    await made.close()
    const copy = folder.file('shared/copy.db')
    execute(path, `VACUUM INTO '${copy}'`)
    writeFileSync(`${copy}.key`, readFileSync(`${path}.key`), { mode: 0o644 })
    chmodSync(copy, kind === 'file' ? 0o444 : 0o666)
    chmodSync(folder.file('shared'), kind === 'folder' ? 0o555 : 0o777)
    chmodSync(folder.path, 0o755)

    const program = startProgram('without-rights', { scratch: folder.file('scratch/jobs.db'), path: copy })
    const refused = JSON.parse((await program.line('refused')).slice('refused '.length)) as TreadleError
    expect(refused).toMatchObject({ name: 'TreadleError', code: 'DATABASE_UNWRITABLE' })
    expect(refused.message).toMatch(/both may be written to by this user/)
    await program.success()
    expect(query(copy, 'SELECT payload FROM treadle_jobs')).toEqual([{ payload: '"kept"' }])
    expect(faultsOf(copy)).toEqual([])
  })
})

describe('a key file that is none is one clear error', () => {
  test.each([
    { what: 'empty', text: '', says: /has no keys/ },
    { what: 'one word', text: 'onlyone\n', says: /an id and a secret/ },
    { what: 'a secret that is too short', text: 'k-1 short\n', says: /16/ },
  ])('$what', async ({ text, says }) => {
    writeFileSync(`${path}.key`, text, { mode: 0o600 })
    const jobs = treadle(`sqlite:${path}`)
    await expectRefusal(() => jobs.declare('count').dispatch(1), 'KEY_INVALID', says)
    await jobs.close()
    expect(readFileSync(`${path}.key`, 'utf8')).toBe(text)
  })
})

describe('a config file that is none is one clear error, and nothing is opened', () => {
  test.each([
    {
      what: 'throws',
      text: "throw new Error('no such host')",
      code: 'CONFIG_LOAD_FAILED',
      says: /treadle\.config\.mjs:1: no such host/,
    },
    { what: 'cannot be parsed', text: 'export default {', code: 'CONFIG_LOAD_FAILED', says: /treadle\.config\.mjs/ },
    { what: 'imports what is not there', text: "import 'not-installed'", code: 'CONFIG_LOAD_FAILED', says: /not-installed/ },
    {
      what: 'has no default export',
      text: 'export const url = 5',
      code: 'CONFIG_INVALID',
      says: /Write: export default defineConfig/,
    },
    {
      what: 'has options that nobody knows',
      text: "export default { ulr: 'sqlite:x.db' }",
      code: 'CONFIG_INVALID',
      says: /"ulr", did you mean "url"/,
    },
    {
      what: 'has a URL that is a number',
      text: 'export default { url: 5 }',
      code: 'CONFIG_INVALID',
      says: /url must be a string/,
    },
  ])('it $what', async ({ text, code, says }) => {
    writeFileSync(folder.file('treadle.config.mjs'), text)
    const program = startProgram('default-instance', {}, { cwd: folder.path })
    const refused = JSON.parse((await program.line('refused')).slice('refused '.length)) as TreadleError
    expect(refused).toMatchObject({ name: 'TreadleError', code })
    expect(refused.message).toMatch(says)
    await program.success()
    expect(readdirSync(folder.path)).toEqual(['treadle.config.mjs'])
  })
})

/** What this process has open, as far as the system tells. */
function openFiles(): readonly string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return ''
    }
  })
}
