import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

describe.skipIf(process.platform === 'win32')('the files of a queue', () => {
  let folder: string
  let umask: number
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'treadle-rights-'))
    umask = process.umask(0)
  })
  afterEach(() => {
    process.umask(umask)
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })

  const rightsAfterUse = async (path: string) => {
    const jobs = treadle(`sqlite:${path}`)
    await jobs.define('mail', () => {}).dispatch()
    const files = ['', '-wal', '-shm', '.wake', '.key'].map((ending) => `${path}${ending}`)
    const rights = Object.fromEntries(
      files
        .filter((file) => existsSync(file))
        .map((file) => [file.slice(path.length), (statSync(file).mode & 0o777).toString(8)]),
    )
    const findings = (await (await jobs.upkeep())?.diagnose())?.filter(({ check }) => check === 'rights')
    await jobs.close()
    return { rights, findings }
  }
  const own = { '': '600', '-wal': '600', '-shm': '600', '.wake': '600', '.key': '600' }

  test('are for their owner alone, whatever the umask is', async () => {
    expect(await rightsAfterUse(join(folder, 'jobs.db'))).toMatchObject({ rights: own, findings: [{ verdict: 'ok' }] })
  })

  test('are so behind a link that leads to no file yet', async () => {
    symlinkSync(join(folder, 'real.db'), join(folder, 'link.db'))
    await rightsAfterUse(join(folder, 'link.db'))
    expect((statSync(join(folder, 'real.db')).mode & 0o777).toString(8)).toBe('600')
  })

  test('are not used where everybody may write to them, unless that is said, and then keep their rights', async () => {
    const path = join(folder, 'jobs.db')
    writeFileSync(path, '')
    chmodSync(path, 0o666)
    await expect(rightsAfterUse(path)).rejects.toMatchObject({ code: 'FILE_UNTRUSTED' })
    vi.stubEnv('TREADLE_TRUSTED_OWNERS', '*')
    const { rights, findings } = await rightsAfterUse(path)
    expect(rights['']).toBe('666')
    expect(findings).toMatchObject([{ verdict: 'warning', found: expect.stringContaining('everybody may write') }])
  })
})
