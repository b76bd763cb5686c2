import { readFileSync } from 'node:fs'
import { openSqliteUpkeep } from 'treadle/sqlite'
import { describe, expect, test } from 'vitest'
import { execute } from '../processes/database.ts'
import { Project } from './project.ts'

async function filled(count: number): Promise<Project> {
  const project = new Project()
  for (let sent = 0; sent < count; sent++) {
    const { code, err } = await project.call(['send', 'greet', `{"n":${sent}}`, '--force', '--url', 'sqlite:old.db'])
    expect(code, err).toBe(0)
  }
  return project
}

describe('treadle move', () => {
  test('counts first, moves then, and says that the keys are needed', async () => {
    const project = await filled(2)
    const sides = ['--from', 'sqlite:old.db', '--to', 'sqlite:new.db']
    const dry = await project.call(['move', ...sides, '--dry-run', '--json'])
    expect(JSON.parse(dry.out)).toMatchObject({ jobs: { ready: 2 }, schedules: 0, parcels: 0, workers: 0, cannotHold: [] })
    const moved = await project.call(['move', ...sides])
    expect(moved).toMatchObject({ code: 0, out: expect.stringMatching(/^moved 2 jobs and 0 schedules in /) })
    expect(moved.err).toMatch(/signed with the keys in .*old\.db\.key.*copy it to .*new\.db\.key/)
    const listed = await project.call(['list', '--json', '--url', 'sqlite:new.db'])
    expect(JSON.parse(listed.out)).toHaveLength(2)
    const again = await project.call(['move', ...sides, '--json'])
    expect(JSON.parse(again.out)).toMatchObject({ moved: 0, isComplete: true })
  })

  test('says what to do about jobs that cannot be moved', async () => {
    const project = await filled(2)
    execute(project.path('old.db'), 'UPDATE treadle_jobs SET state = 99 WHERE rowid = 1')
    const moved = await project.call(['move', '--from', 'sqlite:old.db', '--to', 'sqlite:new.db'])
    expect(moved).toMatchObject({ code: 1, out: expect.stringMatching(/^moved 1 job .*\n1 job could not be read and stayed/) })
    expect(moved.out).toMatch(
      /\nchange or remove the jobs that could not be moved, and run the same command again for what is left\n$/,
    )
  })

  test("names the key file of the project's own queue too", async () => {
    const project = new Project({ 'treadle.config.ts': "export default { url: 'sqlite:old.db' }" })
    expect((await project.call(['send', 'greet', '1', '--force'])).code).toBe(0)
    const moved = await project.call(['move', '--to', 'sqlite:new.db'])
    expect(moved.err).toMatch(/signed with the keys in .*old\.db\.key.*copy it to .*new\.db\.key/)
  })

  test('a database that is not there is not made, and a target must be named', async () => {
    const project = new Project()
    const missing = await project.call(['move', '--from', 'sqlite:none.db', '--to', 'sqlite:new.db'])
    expect(missing).toMatchObject({ code: 4, err: expect.stringContaining('DATABASE_NOT_FOUND') })
    expect((await project.call(['move', '--from', 'sqlite:none.db'])).code).toBe(2)
    const live = await project.call(['move', '--from', 'sqlite:none.db', '--to', 'sqlite:new.db', '--idle', 'soon'])
    expect(live.code).toBe(2)
  })

  test('a file of the version before has what a move needs when it is opened', async () => {
    const project = await filled(1)
    const { schema } = await openSqliteUpkeep(project.path('old.db'))
    await schema.migrate(schema.latest - 1)
    const moved = await project.call(['move', '--from', 'sqlite:old.db', '--to', 'sqlite:new.db', '--json'])
    expect(JSON.parse(moved.out)).toMatchObject({ moved: 1, isComplete: true })
  })
})

describe('treadle export and import', () => {
  test('by a pipe, and by a file that is refused where it is broken', async () => {
    const project = await filled(2)
    const exported = await project.call(['export', '--from', 'sqlite:old.db'])
    expect(exported.out.split('\n')[0]).toContain('"treadle":"export"')
    const piped = await project.call(['import', '--to', 'sqlite:new.db'], { input: exported.out })
    expect(piped).toMatchObject({ code: 0, out: 'imported 2 jobs\n' })
    project.write('broken.jsonl', exported.out.slice(0, -40))
    const broken = await project.call(['import', 'broken.jsonl', '--to', 'sqlite:other.db'])
    expect(broken).toMatchObject({ code: 1, err: expect.stringMatching(/Line \d+: .*IMPORT_INVALID/) })
  })

  test('what is taken out is in the file alone', async () => {
    const project = await filled(1)
    const taken = await project.call(['export', 'jobs.jsonl', '--from', 'sqlite:old.db', '--remove'])
    expect(taken).toMatchObject({ code: 0, out: 'wrote 1 job to jobs.jsonl\n' })
    expect((await project.call(['list', '--json', '--url', 'sqlite:old.db'])).out).toBe('[]\n')
    expect(readFileSync(project.path('jobs.jsonl'), 'utf8').trim().split('\n').at(-1)).toMatch(/"end":\{"jobs":1/)
    expect((await project.call(['export', '--remove', '--from', 'sqlite:old.db'])).code).toBe(2)
  })
})
