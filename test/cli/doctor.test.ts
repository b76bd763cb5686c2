import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { execute } from '../processes/database.ts'
import { Project } from './project.ts'

interface Diagnosis {
  readonly kind: string
  readonly findings: readonly { readonly check: string; readonly verdict: string; readonly found: string }[]
}

describe('treadle doctor', () => {
  const config = { 'treadle.config.ts': `export default { url: 'sqlite:jobs.db' }` }

  it('finds nothing wrong with a file that is sound', async () => {
    const project = new Project(config)
    await project.call(['migrate'])
    const { code, out } = await project.call(['doctor'])
    expect(code).toBe(0)
    expect(out).toMatch(/✓ {2}journal +write-ahead log\n✓ {2}integrity +sound\n/)
    expect(out).toContain('✓ no problems found\n')
    const { kind, findings } = (await project.json(['doctor', '--strict'])) as Diagnosis
    expect(kind).toBe('sqlite')
    expect(findings.map(({ check }) => check)).toEqual([
      ...['library', 'schema', 'tables and indexes', 'journal', 'integrity', 'log', 'rights', 'disk'],
    ])
  })

  it('ends with 1 and says what to do where something is wrong', async () => {
    const project = new Project(config)
    await project.call(['migrate'])
    execute(project.path('jobs.db'), 'DROP INDEX treadle_locks_expiry; PRAGMA journal_mode = DELETE')
    const { code, out } = await project.call(['doctor'])
    expect(code).toBe(1)
    expect(out).toMatch(/✗ {2}tables and indexes +missing: treadle_locks_expiry\n/)
    expect(out).toMatch(/✗ journal: The queue sets WAL when it opens the file\./)
    expect(out).toContain('2 problems, 0 warnings\n')
  })

  it('finds a file that is damaged, and one that is no database', async () => {
    const project = new Project(config)
    project.write('jobs.db', 'this is no database, and long enough to be looked at as one. '.repeat(100))
    const { code, out } = await project.call(['doctor'])
    expect(code).toBe(1)
    expect(out).toMatch(/✗ {2}library +could not be checked: .* is not a sound SQLite database/)
    expect(out).toMatch(/✗ {2}integrity +the same as library\n/)
    expect(out.match(/is not a sound SQLite database/g)).toHaveLength(1)
    expect(out).toMatch(/^✗ library, schema, .*, integrity: Fix what it says, and run it again\.\n1 problem, 0 warnings\n$/m)
    const other = new Project(config)
    await other.call(['migrate'])
    execute(other.path('jobs.db'), 'PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE')
    damage(other.path('jobs.db'))
    expect(await other.call(['doctor', '--json'])).toMatchObject({ code: 1 })
  })

  it('looks only, so it makes no file', async () => {
    const project = new Project(config)
    expect(await project.call(['doctor'])).toMatchObject({ code: 4, err: expect.stringContaining('[DATABASE_NOT_FOUND]') })
  })

  it('has nothing to look at where there is no database', async () => {
    const project = new Project({ 'treadle.config.ts': `export default { url: 'memory:' }` })
    expect(await project.call(['doctor'])).toMatchObject({ code: 0, out: 'memory: has no database to check\n' })
    expect(await project.json(['doctor'])).toEqual({ url: 'memory:', kind: 'memory', findings: [] })
  })
})

/** Writes over a page in the middle of the file. */
function damage(path: string): void {
  const page = 4_096
  writeFileSync(path, Buffer.alloc(page, 0xff), { flag: 'r+', flush: true })
}
