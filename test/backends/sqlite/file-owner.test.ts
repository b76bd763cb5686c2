import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSqlite } from '../../../src/engines/sqlite/index.ts'
import { WakeFile } from '../../../src/engines/sqlite/waking/wake-file.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'

const isRoot = process.getuid?.() === 0
const somebody = 12_345

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'treadle-owner-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** Opens and closes it; gives the warnings. */
async function warningsOf(path: string): Promise<readonly string[]> {
  const warnings: string[] = []
  const logger = { debug() {}, info() {}, warn: (text: string) => void warnings.push(text), error() {} }
  const backend = await openSqlite({ path, clock: new ManualClock(), logger, migrate: true })
  await backend[Symbol.asyncDispose]()
  return warnings
}

describe('a database file', () => {
  test("of one's own is used without a word", async () => {
    const path = join(folder(), 'jobs.db')
    expect(await warningsOf(path)).toEqual([])
    expect(await warningsOf(path)).toEqual([])
  })

  test.each(['', '-wal', '.wake'])(
    'that others may write to (jobs.db%s) is refused, with the command that mends it',
    async (end) => {
      const path = join(folder(), 'jobs.db')
      await warningsOf(path)
      writeFileSync(`${path}${end}`, '', { flag: 'a' })
      chmodSync(`${path}${end}`, 0o666)
      await expect(warningsOf(path)).rejects.toMatchObject({
        code: 'FILE_UNTRUSTED',
        message: expect.stringMatching(/may be written to by everybody \(mode 666\).*Run: chmod go-w /),
      })
      chmodSync(`${path}${end}`, 0o600)
      expect(await warningsOf(path)).toEqual([])
    },
  )

  test.skipIf(!isRoot)('of another user is refused, unless that user is trusted', async () => {
    const path = join(folder(), 'jobs.db')
    await warningsOf(path)
    chownSync(path, somebody, somebody)
    await expect(warningsOf(path)).rejects.toMatchObject({
      code: 'FILE_UNTRUSTED',
      message: expect.stringContaining(`${somebody}`),
    })
    vi.stubEnv('TREADLE_TRUSTED_OWNERS', `${somebody}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await warningsOf(path)).toEqual([])
  })

  test.skipIf(!isRoot).each(['', '-wal', '.wake'])(
    'that is reached by the link of another user (jobs.db%s) is refused, and what the link leads to is left alone',
    async (end) => {
      const shared = folder()
      const victim = join(folder(), 'victim')
      writeFileSync(victim, '')
      symlinkSync(victim, join(shared, `jobs.db${end}`))
      lchownSync(join(shared, `jobs.db${end}`), somebody, somebody)
      await expect(warningsOf(join(shared, 'jobs.db'))).rejects.toMatchObject({ code: 'FILE_UNTRUSTED' })
      expect(readFileSync(victim, 'utf8')).toBe('')
    },
  )

  test('has a wake file of its own: a link in its place is not written through', () => {
    const path = join(folder(), 'jobs.db')
    const victim = join(folder(), 'victim')
    writeFileSync(victim, 'keep')
    symlinkSync(victim, `${path}.wake`)
    const wakeFile = new WakeFile(`${path}.wake`)
    wakeFile.touch()
    wakeFile.close()
    expect(readFileSync(victim, 'utf8')).toBe('keep')
  })

  test('in a folder that others may write to is used with a warning', async () => {
    const shared = join(folder(), 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o777)
    const [warning] = await warningsOf(join(shared, 'jobs.db'))
    expect(warning).toMatch(/shared may be written to by everybody .*put another database in the place of yours/)
  })
})
