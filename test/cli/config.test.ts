import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { configText, Project } from './project.ts'

const job = `import { jobs } from 'treadle'\nexport const a = jobs.define('a', () => 1)\n`

describe('the config file', () => {
  it.each([
    [
      'treadle.config.ts',
      `import { defineConfig } from 'treadle'\nenum Kind { Sqlite = 'sqlite' }\nexport default defineConfig({ url: Kind.Sqlite + ':x.db' })`,
    ],
    ['treadle.config.mts', `const name: string = await Promise.resolve('x')\nexport default { url: 'sqlite:' + name + '.db' }`],
    ['treadle.config.js', `import { defineConfig } from 'treadle'\nexport default defineConfig({ url: 'sqlite:x.db' })`],
    ['treadle.config.mjs', `export default { url: 'sqlite:x.db' }`],
    ['treadle.config.cjs', `const { defineConfig } = require('treadle')\nmodule.exports = defineConfig({ url: 'sqlite:x.db' })`],
  ])('may be %s, and job files share its copy of the library', async (name, text) => {
    const project = new Project({ [name]: text, 'jobs/a.ts': job })
    expect(await project.json(['check'])).toMatchObject({
      config: project.path(name),
      url: 'sqlite:x.db',
      jobs: [expect.objectContaining({ job: 'a' })],
    })
  })

  it('is found in a folder above, and its database lies beside it', async () => {
    const project = new Project({ 'treadle.config.ts': configText, 'jobs/a.ts': job })
    expect(await project.call(['send', 'a'], { folder: 'deep/down' })).toMatchObject({ code: 0 })
    expect([existsSync(project.path('jobs.db')), existsSync(project.path('deep/down/jobs.db'))]).toEqual([true, false])
  })

  it('may give a program that is set up already', async () => {
    const project = new Project({
      'treadle.config.ts': `import { treadle } from 'treadle'\nexport default treadle('sqlite:own.db')`,
      'jobs/b.ts': `import jobs from '../treadle.config'\nexport const b = jobs.define('b', () => 2)`,
    })
    expect(await project.call(['send', 'b'], { folder: 'deep' })).toMatchObject({ code: 0 })
    expect(existsSync(project.path('own.db'))).toBe(true)
    expect(await project.json(['run'])).toMatchObject({ succeeded: 1 })
    expect(await project.call(['list', '--url', 'sqlite:x.db'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--url cannot be used here'),
    })
    const listed = await project.call(['list'], { env: { TREADLE_URL: 'sqlite:x.db' } })
    expect(listed).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^note: TREADLE_URL cannot be used here: .* its own, sqlite:own\.db\n/),
    })
    expect(await project.call(['list'], { env: { TREADLE_URL: 'sqlite:own.db' } })).toMatchObject({ code: 0, err: '' })
    expect(await project.call(['check', '--strict'], { env: { TREADLE_URL: 'sqlite:x.db' } })).toMatchObject({ code: 1 })
  })

  it('yields to the environment, and both to the command line', async () => {
    const project = new Project({ 'treadle.config.ts': configText, 'jobs/a.ts': job })
    const env = { TREADLE_URL: 'sqlite:environment.db' }
    await project.call(['send', 'a'], { env })
    await project.call(['send', 'a', '--url', 'sqlite:option.db'], { env, folder: 'here' })
    const made = ['environment.db', 'here/option.db', 'jobs.db'].map((path) => existsSync(project.path(path)))
    expect(made).toEqual([true, true, false])
  })

  it('is not needed where a URL is given, and asked for where none is', async () => {
    const project = new Project()
    expect(await project.call(['migrate', '--url', 'sqlite:x.db'])).toMatchObject({ code: 0 })
    const { code, err } = await project.call(['list'])
    expect(code).toBe(1)
    expect(err).toMatch(/^treadle: No treadle\.config\.ts was found in .* Run "treadle init" .* \[CONFIG_NOT_FOUND\]\n$/)
  })

  it.each([
    ['throws', `\n\nthrow new Error('boom')`, ':3: boom [CONFIG_LOAD_FAILED]'],
    ['has a mistake in its syntax', 'const a = {\nexport default a', ":2: Unexpected keyword 'export'. [CONFIG_LOAD_FAILED]"],
    ['imports what is not there', `import x from 'nope'\nexport default x`, ":1: Cannot find module 'nope' [CONFIG_LOAD_FAILED]"],
    ['exports a number', 'export default 7', ': the config must be an object with options, got a number [CONFIG_INVALID]'],
    ['exports nothing', 'export const url = 1', ': there is no default export. Write: export default defineConfig('],
    ['has unknown options', `export default { ulr: 'x' }`, ': unknown option "ulr", did you mean "url"? [CONFIG_INVALID]'],
    ['has values that cannot be read', `export default { keep: { dead: 'x' } }`, ': keep.dead must be a number of milliseconds'],
  ])('that %s is one line with its path', async (_, text, message) => {
    const project = new Project({ 'treadle.config.ts': text })
    const { code, out, err } = await project.call(['list'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`treadle: ${project.path('treadle.config.ts')}${message}`)
    expect(err.split('\n')).toHaveLength(2)
  })

  it('imports every entry of the package, wherever that is installed', async () => {
    const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { exports: object }
    const names = Object.keys(exports).filter((name) => !name.endsWith('.json'))
    const imports = names.map((name, index) => `import * as entry${index} from '${name.replace('.', 'treadle')}'`)
    const check = `for (const entry of [${names.map((_, index) => `entry${index}`)}]) if (Object.keys(entry).length === 0) throw new Error('empty')`
    const project = new Project({ 'treadle.config.ts': `${imports.join('\n')}\n${check}\n${configText}` })
    expect(await project.call(['check'])).toMatchObject({ code: 0, err: '' })
  })

  it('a tsconfig.json that cannot be read does no harm', async () => {
    const project = new Project({ 'treadle.config.ts': configText, 'tsconfig.json': '{ "extends": "@nowhere/tsconfig" }' })
    expect(await project.call(['check'])).toMatchObject({ code: 0 })
  })
})

describe('job files', () => {
  it('a default export is a job: a function by the name of its file, a class by its own; tests and types are left alone', async () => {
    const project = new Project({
      'treadle.config.ts': configText,
      'jobs/greet.ts': 'export default (person: { name: string }) => person.name',
      'jobs/nested/report.mjs': 'export default class Report { handle() { return 1 } }',
      'jobs/greet.test.ts': `throw new Error('a test')`,
      'jobs/types.d.ts': 'export default 1',
      'jobs/notes.md': 'nothing',
    })
    const { jobs, files } = (await project.json(['check'])) as { jobs: { job: string }[]; files: string[] }
    expect(jobs.map((each) => each.job)).toEqual(['greet', 'Report'])
    expect(files).toEqual(['jobs/greet.ts', 'jobs/nested/report.mjs'].map((path) => project.path(path)))
  })

  it.each(['mail.mjs', 'mail.ts'])('what %s fails with is named, also after it has defined jobs', async (file) => {
    const project = new Project({
      'treadle.config.ts': configText,
      [`jobs/${file}`]: `${job}throw new Error('the mail server is not configured')`,
    })
    const { code, out } = await project.call(['check'])
    expect(code).toBe(1)
    expect(out).toContain('the mail server is not configured')
    expect(out).not.toContain('defined twice')
  })

  it('treadle check names jobs that the queue cannot deliver as they say', async () => {
    const files = {
      'jobs/charge.ts': `import { jobs } from 'treadle'\njobs.define('charge', () => 1).delivery('effectively-once')`,
    }
    const memory = new Project({ ...files, 'treadle.config.ts': `export default { url: 'memory:', jobs: ['jobs'] }` })
    const { code, out } = await memory.call(['check'])
    expect([code, out]).toEqual([1, expect.stringMatching(/Job "charge" is effectively-once.*memory: has no transactions/s)])
    const sqlite = new Project({ ...files, 'treadle.config.ts': `export default { url: 'sqlite:x.db', jobs: ['jobs'] }` })
    // It opens no queue: nobody is at this address.
    for (const url of [[], ['--url', 'postgres://127.0.0.1:1/jobs'], ['--url', 'mariadb://127.0.0.1:1/jobs']]) {
      expect((await sqlite.call(['check', ...url])).code).toBe(0)
    }
  })

  it('treadle check tells everything that is wrong at once', async () => {
    const project = new Project({
      'treadle.config.ts': `export default { url: 'sqlite:x.db', jobs: ['jobs', 'nowhere'] }`,
      'jobs/a/same.ts': 'export default () => 1',
      'jobs/b/same.ts': 'export default () => 2',
      'jobs/class.ts': 'export default class {}',
      'jobs/schedule.ts': `import { jobs } from 'treadle'\njobs.define('s', () => 1).dailyAt('25:00')`,
      'jobs/throws.ts': 'throw 7',
      'jobs/twice.ts': `import { jobs } from 'treadle'\njobs.define('x', () => 1)\njobs.define('x', () => 1)`,
      'jobs/wrong.ts': `import { jobs } from 'treadle'\njobs.define('y', () => 1).queue('a b')`,
    })
    const { code, out } = await project.call(['check', '--json'])
    expect(code).toBe(1)
    expect((JSON.parse(out) as { problems: string[] }).problems).toEqual([
      expect.stringContaining(`${project.path('nowhere')} does not exist`),
      expect.stringMatching(/^.*b\/same\.ts: .* the job "same", which is already defined by .*a\/same\.ts/),
      expect.stringMatching(/^.*class\.ts: The handler of "class" must be a function/),
      expect.stringMatching(/^.*schedule\.ts:2: dailyAt\(\) takes a time/),
      expect.stringMatching(/^.*throws\.ts: thrown: 7$/),
      expect.stringMatching(/^.*twice\.ts:3: Job "x" is defined twice/),
      expect.stringMatching(/^Job "y": a queue must be/),
    ])
    const text = await project.call(['check'])
    expect(text.out).toContain('7 problems found')
    expect(existsSync(project.path('x.db'))).toBe(false)
    expect(await project.call(['work'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('throws.ts: thrown: 7; '),
    })
  })

  it('treadle check tells what is wrong with the options and, beside that, with the jobs', async () => {
    const project = new Project({
      'treadle.config.ts': `export default { url: 'sqlite:x.db', environment: 5, worker: { jobs: ['nope'], queues: ['a b'] } }`,
      'jobs/a.ts': `import { jobs } from 'treadle'\njobs.define('a', () => 1)`,
    })
    const { code, out } = await project.call(['check', '--json'])
    const { problems } = JSON.parse(out) as { problems: string[] }
    const inConfig = (problem: string) => `${project.path('treadle.config.ts')}: ${problem}`
    expect({ code, problems }).toEqual({
      code: 1,
      problems: [
        inConfig("environment must be a string such as 'production', got 5"),
        expect.stringMatching(/worker: queues: a queue must be .*, got 'a b'$/),
        inConfig('worker: jobs: No job is defined as "nope". Defined here: a.'),
      ],
    })
    expect(await project.call(['work'])).toMatchObject({ code: 1, err: expect.stringContaining("got 'a b'") })
  })

  it('treadle check finds that job files were loaded and no job is there, and says how to define one', async () => {
    const own = `import { treadle } from 'treadle'\nexport const jobs = treadle('sqlite:own.db')\n`
    const project = new Project({ 'treadle.config.ts': configText, 'jobs/a.ts': `${own}jobs.define('a', () => 1)` })
    const { code, out } = await project.call(['check'])
    expect(code).toBe(1)
    expect(out).toMatch(
      /✗ No job is defined here, although 1 job file was loaded: .* defined on another instance .*import \{ jobs \} from/,
    )
    project.write('treadle.config.ts', `export { jobs as default } from './jobs/a.ts'`)
    expect(await project.call(['check'])).toMatchObject({ code: 0 })
    project.write('treadle.config.ts', `import { treadle } from 'treadle'\nexport default treadle('sqlite:x.db')`)
    expect(await project.call(['check'])).toMatchObject({
      code: 1,
      out: expect.stringContaining(`Define them on the instance that ${project.path('treadle.config.ts')} exports.`),
    })
  })

  it('a schedule that is not followed everywhere is marked (D8)', async () => {
    const project = new Project({
      'treadle.config.ts': configText,
      'jobs/s.ts': `import { jobs } from 'treadle'
jobs.define('off', () => 1).hourly().disable()
jobs.define('live', () => 1).hourly().environments('production')`,
    })
    const { out } = await project.call(['check'])
    expect(out).toMatch(/off .* disabled\n/)
    expect(out).toMatch(/live .* only in production\n/)
  })
})
