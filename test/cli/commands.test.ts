import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sqliteMigrations } from '../../src/engines/sqlite/schema/schema.ts'
import { execute } from '../processes/database.ts'
import { HostedProject } from './hosted-project.ts'
import { jobFiles } from './project.ts'

const latest = sqliteMigrations.length

interface Sent {
  readonly id: string
}

describe('treadle send, run, list, show', () => {
  it('a wait for a job that no worker runs says so, and ends at its time', async () => {
    const project = new HostedProject(jobFiles)
    const { code, err } = await project.call(['send', 'add', '{"a":1,"b":2}', '--wait', '1ms'])
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^sent add .*\nnote: no worker is running.*\n.*WAIT_TIMEOUT/s),
    })
  })

  it('a job goes from the queue to its end, and everything about it can be seen', async () => {
    const project = new HostedProject(jobFiles)
    const sent = (await project.json(['send', 'add', '{"a":1,"b":2}', '--priority', 'high', '--key', 'k1'])) as Sent
    expect(sent).toEqual({ id: expect.any(String), job: 'add', created: true })
    expect((await project.call(['list'])).out).toContain(`${sent.id}  add  ready  default      0`)
    expect(await project.call(['run', '--no-scheduler'])).toMatchObject({ code: 0, out: '1 succeeded\n' })
    expect(await project.json(['show', sent.id])).toMatchObject({
      state: 'succeeded',
      payload: { a: 1, b: 2 },
      result: 3,
      priority: 10,
      idempotencyKey: 'k1',
      finishedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    const shown = (await project.call(['show', sent.id])).out
    expect(shown).toMatch(/state {8}succeeded\n/)
    expect(shown).toContain('payload      {\n                 "a": 1,\n')
  })

  it('a job is sent for a group, and listed and shown with it', async () => {
    const project = new HostedProject(jobFiles)
    const { id } = (await project.json(['send', 'add', '{"a":1,"b":2}', '--group', 'ada'])) as Sent
    await project.json(['send', 'add', '{"a":1,"b":2}'])
    expect(await project.json(['list', '--group', 'ada'])).toMatchObject([{ id, group: 'ada' }])
    expect((await project.call(['show', id])).out).toMatch(/group {8}ada\n/)
    expect((await project.call(['list', '--group', ''])).err).toContain('It must be a string of 1 to 512 characters')
  })

  it('an old job of a low priority goes first where waiting counts', async () => {
    const project = new HostedProject(jobFiles)
    const low = (await project.json(['send', 'add', '{"a":1,"b":2}', '--priority', '1', '--at', '2026-01-01T00:00:00Z'])) as Sent
    const high = (await project.json(['send', 'add', '{"a":1,"b":2}', '--priority', '9'])) as Sent
    await project.call(['run', '--no-scheduler', '--ageing', '1m', '--limit', '1', '--concurrency', '1'])
    expect(await project.json(['show', low.id])).toMatchObject({ state: 'succeeded' })
    expect(await project.json(['show', high.id])).toMatchObject({ state: 'ready' })
  })

  it('a payload comes from an argument, a file or the standard input', async () => {
    const project = new HostedProject(jobFiles)
    project.write('payload.json', '{"a":2,"b":2}')
    const file = (await project.json(['send', 'add', '--payload-file', 'payload.json'])) as Sent
    const stdin = JSON.parse((await project.call(['send', 'add', '-', '--json'], { input: '{"a":3,"b":2}' })).out) as Sent
    expect(await project.json(['show', file.id])).toMatchObject({ payload: { a: 2, b: 2 } })
    expect(await project.json(['show', stdin.id])).toMatchObject({ payload: { a: 3, b: 2 } })
  })

  it('a delay, a queue and a unique key are for this dispatch', async () => {
    const project = new HostedProject(jobFiles)
    const first = (await project.json([
      'send',
      'add',
      '{"a":1,"b":1}',
      '--delay',
      '1h',
      '--queue',
      'later',
      '--unique',
      'u',
    ])) as Sent
    const again = await project.call(['send', 'add', '{"a":1,"b":1}', '--unique', 'u'])
    expect(again.out).toBe(`no new job: add ${first.id} holds the unique key\n`)
    expect(await project.json(['show', first.id])).toMatchObject({ state: 'scheduled', queue: 'later', uniqueKey: 'u' })
  })

  it('a unique key may be held for another time, and its job be replaced', async () => {
    const project = new HostedProject(jobFiles)
    const send = (payload: string, ...more: readonly string[]) =>
      project.json(['send', 'add', payload, '--unique', 'u', '--unique-until', 'ever', '--delay', '1h', ...more])
    const first = (await send('{"a":1,"b":1}')) as Sent
    expect(await send('{"a":2,"b":2}', '--on-conflict', 'replace')).toMatchObject({ id: first.id, created: false })
    expect(await project.json(['show', first.id])).toMatchObject({ payload: { a: 2, b: 2 } })
    const told = await project.call(['send', 'add', '{"a":3,"b":3}', '--unique', 'u', '--on-conflict', 'merge'])
    expect(told.out).toBe(`no new job: add ${first.id} holds the unique key, and was updated unless a worker has claimed it\n`)
    for (const wrong of [
      ['--unique-until', 'soon'],
      ['--on-conflict', 'raise'],
      ['--unique-until', 'ever'],
    ]) {
      expect((await project.call(['send', 'add', '{}', ...wrong])).code).toBe(2)
    }
  })

  it('says how often a job is retried and how long an attempt may take', async () => {
    const project = new HostedProject(jobFiles)
    const { id } = (await project.json(['send', 'elsewhere', '--force', '--retries', '4', '--timeout', '90s'])) as Sent
    expect(await project.json(['show', id])).toMatchObject({ maxRetries: 4, timeoutMs: 90_000 })
    const typo = (await project.call(['send', 'ad'])).err
    expect(typo).toContain('No job is defined as "ad". Did you mean "add"? Defined here: add, flaky')
  })

  it('a job of another program is sent only when that is said', async () => {
    const project = new HostedProject(jobFiles)
    const refused = await project.call(['send', 'elsewhere'])
    expect(refused).toMatchObject({ code: 4, out: '' })
    expect(refused.err).toBe(
      'treadle: No job is defined as "elsewhere". Defined here: add, flaky, fails, patient, yearly. Use --force to send it for another program. [JOB_UNKNOWN]\n',
    )
    expect(await project.call(['send', 'elsewhere', '--force'])).toMatchObject({ code: 0 })
    const status = (await project.call(['status'])).out
    expect(status).toMatch(/elsewhere .* no handler here/)
    expect(status).toContain('Waiting jobs that this program cannot run: elsewhere')
  })

  it('pages go from the newest to the oldest', async () => {
    const project = new HostedProject(jobFiles)
    const ids: string[] = []
    for (const a of [1, 2, 3]) ids.unshift(((await project.json(['send', 'add', `{"a":${a},"b":0}`])) as Sent).id)
    const page = (await project.json(['list', '--limit', '2'])) as Sent[]
    const rest = (await project.json(['list', '--before', page[1]?.id as string])) as Sent[]
    expect([...page, ...rest].map(({ id }) => id)).toEqual(ids)
  })

  it('one pass is limited to what was asked for, and tells of dead jobs by its exit code', async () => {
    const project = new HostedProject(jobFiles)
    for (const job of ['fails', 'add', 'flaky']) await project.call(['send', job, '{"a":1,"b":1}'])
    expect(await project.json(['run', '--job', 'add,flaky', '--limit', '1'])).toMatchObject({ succeeded: 1, dead: 0 })
    expect(await project.json(['run', '--queue', 'default'])).toMatchObject({ succeeded: 1, retried: 1, dead: 0 })
    expect(await project.call(['run'])).toMatchObject({ code: 3, out: '1 dead\n' })
    await project.call(['send', 'flaky', '{}'])
    expect(await project.call(['run', '--fail-on', 'failed', '--limit', '1', '--job', 'flaky'])).toMatchObject({ code: 3 })
    await project.call(['send', 'fails', '{}'])
    expect(await project.call(['run', '--fail-on', 'never', '--job', 'fails'])).toMatchObject({ code: 0, out: '1 dead\n' })
    expect(await project.call(['run', '--fail-on', 'always'])).toMatchObject({ code: 2 })
  })

  it('one pass tells on the error output which jobs died and of what, the first of them', async () => {
    const project = new HostedProject({
      ...jobFiles,
      'jobs/batch.ts': `import { jobs } from 'treadle'
const card = jobs.define('card', ({ n }: { n: number }) => { throw new Error('declined ' + n) })
jobs.define('batch', () => card.dispatchMany(Array.from({ length: 22 }, (_, n) => ({ n }))).then(() => {}))`,
    })
    const { id } = (await project.json(['send', 'card', '{"n":5}'])) as Sent
    expect(await project.call(['run', '--no-scheduler'])).toEqual({
      code: 3,
      out: '1 dead\n',
      err: `✗ card ${id} dead (exhausted) at attempt 1: declined 5\n`,
    })
    const other = (await project.json(['send', 'card', '{"n":6}'])) as Sent
    expect(JSON.parse((await project.call(['run', '--no-scheduler', '--json'])).out)).toMatchObject({
      dead: 1,
      died: [{ job: 'card', id: other.id, reason: 'exhausted', error: { message: 'declined 6' } }],
    })
    await project.call(['send', 'batch'])
    const { out, err } = await project.call(['run', '--no-scheduler'])
    expect(out).toBe('1 succeeded, 22 dead\n')
    const lines = err.trimEnd().split('\n')
    expect(lines.filter((line) => line.startsWith('✗ card'))).toHaveLength(20)
    expect(lines.at(-1)).toBe('note: more jobs failed: "treadle dead list" shows them all')
  })
})

describe('treadle status', () => {
  it('counts by queue and state, marks what is paused, and tells the next run of schedules (J41, Y21)', async () => {
    const project = new HostedProject(jobFiles)
    await project.call(['send', 'add', '{"a":1,"b":1}'])
    await project.call(['send', 'fails'])
    await project.call(['run'])
    await project.call(['send', 'add', '{"a":1,"b":1}'])
    expect(await project.call(['pause', 'mail'])).toMatchObject({ code: 0, out: 'paused mail\n' })
    expect(await project.json(['status'])).toEqual({
      url: 'sqlite:jobs.db',
      queues: [
        expect.objectContaining({ queue: 'default', paused: false, counts: expect.objectContaining({ ready: 1, succeeded: 1 }) }),
        expect.objectContaining({
          queue: 'mail',
          paused: true,
          counts: expect.objectContaining({ dead: 1 }),
          oldestReadyAt: null,
        }),
      ],
      jobs: expect.arrayContaining([expect.objectContaining({ job: 'fails', handled: true })]),
      schedules: [
        expect.objectContaining({ schedule: 'yearly', timezone: 'UTC', nextAt: expect.stringMatching(/-01-01T00:00:00/) }),
      ],
      workers: [],
    })
    const text = (await project.call(['status'])).out
    expect(text).toMatch(/mail {5}paused/)
    expect(text).not.toContain('\u001b')
    expect(await project.call(['resume', 'mail'])).toMatchObject({ code: 0, out: 'resumed mail\n' })
  })

  it('works while a job file is broken, and says so', async () => {
    const project = new HostedProject(jobFiles)
    await project.call(['migrate'])
    project.write('jobs/broken.ts', 'const x = {')
    const { code, out, err } = await project.call(['status'])
    expect({ code, out }).toEqual({ code: 0, out: 'sqlite:jobs.db\n\nno jobs yet\n' })
    expect(err).toBe(`note: ${project.path('jobs/broken.ts')}:1: Unexpected token\n`)
    expect(await project.call(['list'])).toMatchObject({ code: 0, out: 'no jobs\n', err: '' })
  })
})

describe('treadle dead, retry, cancel, prune', () => {
  it('dead jobs are listed, shown with their errors, replayed and purged', async () => {
    const project = new HostedProject(jobFiles)
    const { id } = (await project.json(['send', 'fails'])) as Sent
    await project.call(['run'])
    expect((await project.call(['dead', 'list'])).out).toContain('permanent: broken ␛[31m for good')
    const shown = (await project.call(['dead', 'show', id])).out
    expect(shown).toContain('state        dead (permanent)')
    expect(shown).toMatch(new RegExp(`PermanentError: broken .*\\n +at .*${project.path('jobs/all.ts')}:7`))
    expect(await project.call(['dead', 'replay', id])).toMatchObject({ code: 0, out: `${id}  back in the queue\n` })
    expect(await project.call(['dead', 'replay', id])).toMatchObject({ code: 1, out: `${id}  left alone: it is not dead\n` })
    await project.call(['run'])
    expect(await project.json(['dead', 'replay', '--all', '--job', 'other'])).toEqual({ replayed: 0, left: {} })
    expect(await project.json(['dead', 'replay', '--all', '--yes', '--queue', 'mail'])).toEqual({ replayed: 1, left: {} })
    await project.call(['run'])
    expect(await project.json(['dead', 'purge', '--older-than', '1d', '--yes'])).toEqual({ deleted: 0 })
    expect(await project.call(['dead', 'purge'])).toMatchObject({ code: 2, err: expect.stringContaining('add --yes') })
    expect(await project.json(['dead', 'purge', '--yes'])).toEqual({ deleted: 1 })
  })

  it('jobs are retried and cancelled by their ids, each with its own answer', async () => {
    const project = new HostedProject(jobFiles)
    const { id } = (await project.json(['send', 'add', '{"a":1,"b":1}'])) as Sent
    expect(await project.call(['retry', id])).toMatchObject({ code: 1, out: `${id}  left alone: it has not finished\n` })
    expect(await project.call(['cancel', id])).toMatchObject({ code: 0, out: `${id}  cancelled\n` })
    expect(await project.call(['cancel', id, 'nope'])).toMatchObject({
      code: 4,
      out: `${id}  left alone: it has already finished\nnope  no such job\n`,
    })
    expect(await project.call(['retry', id])).toMatchObject({ code: 0, out: `${id}  back in the queue\n` })
    expect(await project.call(['retry', 'nope'])).toMatchObject({ code: 4 })
    const missing = { code: 4, out: 'no␛[2J  no such job\n' }
    for (const command of [['retry'], ['cancel'], ['cancel', '--tree']])
      expect(await project.call([...command, 'no\x1b[2J'])).toMatchObject(missing)
  })

  it('prune deletes what ended long ago and never work that waits (J36, X27)', async () => {
    const config = `export default { url: 'sqlite:jobs.db', keep: { cancelled: '0ms' } }`
    const project = new HostedProject(jobFiles)
    const ended = (await project.json(['send', 'add', '{"a":1,"b":1}'])) as Sent
    const waiting = (await project.json(['send', 'add', '{"a":1,"b":1}'])) as Sent
    await project.call(['cancel', ended.id])
    expect(await project.call(['prune'])).toMatchObject({ code: 0, out: 'deleted 0 ended jobs\n' })
    project.write('treadle.config.ts', config)
    expect(await project.call(['prune'])).toMatchObject({ code: 0, out: 'deleted 1 ended job\n' })
    expect(((await project.json(['list'])) as Sent[]).map(({ id }) => id)).toEqual([waiting.id])
  })

  it('migrate brings the schema up to date and tells its version', async () => {
    const project = new HostedProject({ 'treadle.config.ts': `export default { url: 'sqlite:jobs.db', migrate: false }` })
    project.write('jobs.db', '')
    expect(await project.call(['list'])).toMatchObject({ code: 1, err: expect.stringContaining('[SCHEMA_OUTDATED]') })
    expect((await project.call(['migrate'])).out).toMatch(/^sqlite:jobs\.db is up to date: schema version \d+\n$/)
    expect(await project.call(['list'])).toMatchObject({ code: 0 })
  })

  it('migrate --plan prints what it would run and changes nothing, and the database can be made of it', async () => {
    const project = new HostedProject({ 'treadle.config.ts': `export default { url: 'sqlite:jobs.db', migrate: false }` })
    const { code, out } = await project.call(['migrate', '--plan'])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^-- The schema of Treadle, from version 0 to ${latest}\\nBEGIN IMMEDIATE;`))
    expect(out).toMatch(/INSERT INTO treadle_schema [^;]*;\nCOMMIT;\n$/)
    expect(existsSync(project.path('jobs.db'))).toBe(false)
    execute(project.path('jobs.db'), out)
    expect(await project.call(['send', 'any', '--force'])).toMatchObject({ code: 0 })
    expect((await project.call(['migrate', '--plan'])).out).toBe(`-- nothing to do: schema version ${latest}\n`)
  })

  it('migrate goes back to an earlier version only where that is said twice', async () => {
    const project = new HostedProject({ 'treadle.config.ts': `export default { url: 'sqlite:jobs.db', migrate: false }` })
    await project.call(['migrate'])
    for (const way of [
      ['--down', '1'],
      ['--to', '0'],
    ]) {
      expect(await project.call(['migrate', ...way])).toMatchObject({ code: 2, err: expect.stringContaining('add --yes') })
    }
    expect(await project.call(['migrate', '--down', String(latest + 1), '--yes'])).toMatchObject({ code: 2 })
    expect(await project.call(['migrate', '--to', String(latest + 1)])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`0 (none) to ${latest}`),
    })
    expect(await project.call(['migrate', '--to', '4', '--yes'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Schema version 5 cannot be undone without loss'),
    })
    expect(await project.json(['migrate', '--down', '1', '--yes'])).toMatchObject({ version: latest - 1 })
    expect(await project.json(['migrate'])).toEqual({ url: 'sqlite:jobs.db', kind: 'sqlite', version: latest })
  })

  it('migrate has nothing to do where there is no database', async () => {
    const project = new HostedProject({ 'treadle.config.ts': `export default { url: 'memory:' }` })
    expect(await project.json(['migrate'])).toEqual({ url: 'memory:', kind: 'memory', version: null })
  })
})
