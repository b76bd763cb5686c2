import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runScript } from './child.ts'

let folder: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'treadle-default-')))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Dispatches and runs one job on the default instance; says where that was. */
const script = `
  import { jobs } from 'treadle'
  const run = await jobs.define('mail', async () => 'sent').dispatch()
  await jobs.run()
  console.log(jobs.url, await run.result())
  await jobs.close()
`

describe('the default instance', () => {
  it('opens a SQLite file in the working folder where nothing is said', async () => {
    expect(await runScript(script, { cwd: folder })).toEqual({ code: 0, out: 'sqlite:treadle.db sent\n', err: '' })
    expect(existsSync(join(folder, 'treadle.db'))).toBe(true)
  })

  it('opens what TREADLE_URL says', async () => {
    const { out } = await runScript(script, { cwd: folder, env: { TREADLE_URL: 'sqlite:other.db' } })
    expect(out).toBe('sqlite:other.db sent\n')
    expect(existsSync(join(folder, 'other.db'))).toBe(true)
  })

  it('refuses a config file that exports an instance of its own: that one is to be used', async () => {
    writeFileSync(join(folder, 'treadle.config.mjs'), `import { treadle } from 'treadle'\nexport default treadle('memory:')`)
    const { code, err } = await runScript(script, { cwd: folder })
    expect(code).toBe(1)
    expect(err).toContain('CONFIG_INVALID')
    expect(err).toContain('exports an instance of its own')
    expect(existsSync(join(folder, 'treadle.db'))).toBe(false)
  })

  it('cannot be configured once it is in use', async () => {
    const late = `
      import { configure, jobs } from 'treadle'
      await jobs.define('mail', async () => {}).dispatch()
      try { configure({ url: 'memory:' }) } catch (error) { console.log(error.code) }
      await jobs.close()
    `
    expect((await runScript(late, { cwd: folder })).out).toBe('CONFIG_INVALID\n')
  })

  it('opens what the nearest config file says, from the folder of that file', async () => {
    writeFileSync(join(folder, 'treadle.config.ts'), `export default { url: 'sqlite:configured.db' as string }`)
    const below = join(folder, 'a', 'b')
    mkdirSync(below, { recursive: true })
    expect(await runScript(script, { cwd: below })).toMatchObject({ code: 0, out: 'sqlite:configured.db sent\n' })
    expect(existsSync(join(folder, 'configured.db'))).toBe(true)
  })

  it('opens what TREADLE_URL says rather than what the config file says, with the other options of the file', async () => {
    writeFileSync(join(folder, 'treadle.config.mjs'), `export default { url: 'sqlite:configured.db', unsigned: true }`)
    const { out } = await runScript(script, { cwd: folder, env: { TREADLE_URL: 'sqlite:other.db' } })
    expect(out).toBe('sqlite:other.db sent\n')
    expect(['configured.db', 'other.db', 'other.db.key'].map((name) => existsSync(join(folder, name)))).toEqual([
      false,
      true,
      false,
    ])
  })

  it('opens what configure() says before anything else', async () => {
    writeFileSync(join(folder, 'treadle.config.mjs'), `export default { url: 'sqlite:configured.db' }`)
    const configured = `import { configure } from 'treadle'\nconfigure({ url: 'memory:' })\n${script}`
    const { out } = await runScript(configured, { cwd: folder, env: { TREADLE_URL: 'sqlite:other.db' } })
    expect(out).toBe('memory: sent\n')
  })

  it('is refused with the file when its config is wrong', async () => {
    writeFileSync(join(folder, 'treadle.config.mjs'), `export default { ulr: 'sqlite:configured.db' }`)
    const { code, err } = await runScript(script, { cwd: folder })
    expect(code).toBe(1)
    expect(err).toContain(`${join(folder, 'treadle.config.mjs')}: unknown option "ulr", did you mean "url"?`)
  })

  it('opens nothing when it is only imported', async () => {
    const { code } = await runScript(`import { jobs } from 'treadle'\njobs.define('mail', async () => {})`, { cwd: folder })
    expect(code).toBe(0)
    expect(existsSync(join(folder, 'treadle.db'))).toBe(false)
  })
})
