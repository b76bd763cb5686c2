import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { failureOf, failureText } from '../../src/cli/failure.ts'
import { treadleProgram } from '../../src/cli/program.ts'
import { jobProject, Project } from './project.ts'

const commands = [
  'init',
  'check',
  'work',
  'run',
  'send',
  'status',
  'workers',
  'list',
  'show',
  'retry',
  'cancel',
  'pause',
  'resume',
  'prune',
  'migrate',
  'keys',
  'doctor',
  'daemon',
  'manage',
  'next',
  'trigger',
  'forget',
]
const deadCommands = ['list', 'show', 'replay', 'purge'].map((name) => `dead ${name}`)

describe('wrong usage ends with 2 and one line', () => {
  it.each<[args: string[], message: string]>([
    [['stauts'], `unknown command 'stauts' (Did you mean status?); see "treadle help"`],
    [['dashboard'], `unknown command 'dashboard' (Did you mean serve?); see "treadle help"`],
    [['worker'], `unknown command 'worker' (Did you mean work?); see "treadle help"`],
    [['replay', '0199'], `unknown command 'replay' (Did you mean dead replay?); see "treadle help"`],
    [['constructor'], `unknown command 'constructor'; see "treadle help"`],
    [['dead', 'lst'], `unknown command 'lst' (Did you mean list?); see "treadle help dead"`],
    [['list', '--lmit', '3'], `unknown option '--lmit' (Did you mean --limit?); see "treadle help list"`],
    [['move'], `required option '--to <url>' not specified; see "treadle help move"`],
    [['dead', 'replay', '--queue'], `option '--queue <queue>' argument missing; see "treadle help dead replay"`],
    [['list', '--limit', 'NaN'], "option '--limit <n>' argument 'NaN' is invalid. It must be a whole number from 1 to 10000."],
    [['list', '--state', 'failed'], 'It must be one of ready, scheduled, blocked, running,'],
    [['list', 'extra'], "too many arguments for 'list'"],
    [['show'], `missing required argument 'id'; see "treadle help show"`],
    [['send', 'add', '{a:1}'], 'the payload is not JSON: expected a property name in double quotes or "}" at line 1, column 2'],
    [['send', 'add', '1', '--payload-file', 'x'], 'give the payload either as an argument or with --payload-file'],
    [['send', 'add', '--payload-file', 'nope'], 'the payload cannot be read from nope: ENOENT'],
    [['send', 'add', '--delay', '5'], "It must be a duration with its unit, such as '250ms'"],
    [['send', 'add', '--at', 'noon'], 'It must be an ISO 8601 time with its offset'],
    [['send', 'add', '--delay', '5m', '--at', '2026-01-01T00:00:00Z'], 'give either --delay or --at'],
    [['send', 'add', '--queue', 'a b'], 'A queue must be 1 to 64 letters'],
    [['work', '--concurrency', '0'], 'It must be a whole number from 1 to 10000.'],
    [['work', '--lease', '1ms'], 'lease must be from 1s to 1d, got 1 ms'],
    [['work', '--single', '--no-scheduler'], "option '--single' cannot be used with option '--no-scheduler'"],
    [['work', '--processes', '0'], 'It must be a whole number from 1 to 256.'],
    [['work', '--processes', '257'], 'It must be a whole number from 1 to 256.'],
    [['work', '--processes', '2', '--max-time', '1h'], '--max-time is for a worker without --processes'],
    [['work', '--processes', '2', '--health-port', '0'], '--health-port is for a worker without --processes'],
    [['work', '--processes', '2', '--max-memory', '512'], "It must be a size with its unit, such as '512mb' or '1.5gb'."],
    [['work', '--processes', '2', '--supervised', 'me'], 'It is only for "treadle work --processes" itself.'],
    [['daemon', '--tick', '10ms'], 'tick must be from 1s to 1h, got 10 ms'],
    [['daemon', '--max-overruns', '-1'], 'It must be a whole number from 0 to 1000000.'],
    [['run', '--at', 'noon'], 'It must be an ISO 8601 time with its offset'],
    [['run', '--at', '2026-01-01T00:00:00Z', '--no-scheduler'], 'at has no meaning without the scheduler'],
    [['run', '--concurrency', '10001'], 'It must be a whole number from 1 to 10000.'],
    [['send', 'add', '--unique', ''], 'It must be a string of 1 to 512 characters'],
    [['list', '--schedules', '--state', 'dead'], "option '--schedules' cannot be used with option '--state <state>'"],
    [['run', '--at', '2026-02-31T00:00:00Z'], 'There is no such day: 2026-02-31.'],
    [['next', 'x', '--zone', 'Nowhere'], "It must be the name of a time zone, such as 'Europe/Paris'"],
    [['next', '--from', 'noon'], 'It must be an ISO 8601 time with its offset'],
    [['pause'], 'give either the names of queues, --job KEY or --schedule NAME: none was given'],
    [
      ['resume', 'mail', '--schedule', 'digest'],
      'give either the names of queues, --job KEY or --schedule NAME: several were given',
    ],
    [['run', '--queue', ''], 'It must not be empty.'],
    [['pause', 'a b'], 'A queue must be 1 to 64 letters'],
    [['dead', 'replay'], 'give either the ids of jobs or --all'],
    [['dead', 'replay', 'x', '--all'], 'give either the ids of jobs or --all'],
    [['dead', 'replay', 'x', '--job', 'y'], 'go with --all'],
    [['dead', 'purge'], 'this deletes jobs permanently: add --yes'],
    [['dead', 'foo'], "unknown command 'foo'"],
    [['import', 'nope'], 'nope cannot be read: ENOENT'],
    [['send', 'add', '--retries', '-1'], 'It must be a whole number from 0 to 1000.'],
    [['help', 'foo'], "unknown command 'foo'"],
  ])('treadle %j', async (args, message) => {
    const thrown = await treadleProgram()
      .parseAsync(args, { from: 'user' })
      .catch((error: unknown) => error)
    const failure = failureOf(thrown)
    expect(failure).toMatchObject({ code: 'USAGE', exitCode: 2 })
    const line = failureText(failure, thrown, { json: false, verbose: false })
    expect(line).toMatch(/^treadle: [^\n]* \[USAGE\]$/)
    expect(line).toContain(message)
  })

  it.each<[expression: string, message: string]>([
    ['61 * * * *', 'The cron expression "61 * * * *" has an invalid minute'],
    ['FINISHED, +1 EON', 'A repeat is a base (SCHEDULED, STARTED or FINISHED)'],
    [
      'FINISHED, START OF DAY',
      "repeat('FINISHED, START OF DAY') would not lead into the future from a run at 2026-12-31T23:59:59.000Z: begin with a step forward",
    ],
  ])('of an expression, with the code that a definition would get: %s', async (expression, message) => {
    const thrown = await treadleProgram()
      .parseAsync(['next', expression], { from: 'user' })
      .catch((error: unknown) => error)
    expect(failureOf(thrown)).toEqual({ code: 'SCHEDULE_INVALID', exitCode: 2, message: expect.stringContaining(message) })
  })

  it('of a schedule to store, before the queue is opened', async () => {
    const said = [
      ['--cron', '* * * *'],
      ['--every', '100ms'],
      ['--repeat', 'FINISHED, START OF DAY'],
    ]
    for (const words of said) {
      const thrown = await treadleProgram()
        .parseAsync(['schedules', 'set', 'acme', '--job', 'add', ...words, '--url', 'sqlite:nowhere/nothing.db'], {
          from: 'user',
        })
        .catch((error: unknown) => error)
      expect(failureOf(thrown)).toMatchObject({ code: 'SCHEDULE_INVALID', exitCode: 2 })
    }
  })

  it('of a missing command is JSON with --json, and the help without', async () => {
    for (const group of [[], ['schedules'], ['dead']]) {
      const { code, out, err } = await new Project().call([...group, '--json'])
      expect({ code, out, error: JSON.parse(err) }).toEqual({
        code: 2,
        out: '',
        error: { error: { code: 'USAGE', message: 'a command is missing; "treadle help" lists them' } },
      })
      expect((await new Project().call(group)).err).toContain('Usage: treadle')
    }
  })

  it('errors of the system have the documented code for everything else', () => {
    const thrown = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
    expect(failureOf(thrown)).toMatchObject({ code: 'FAILED', exitCode: 1 })
  })

  it('on the error output', async () => {
    const { code, out, err } = await new Project().call(['stauts'])
    expect({ code, out, err }).toEqual({
      code: 2,
      out: '',
      err: `treadle: unknown command 'stauts' (Did you mean status?); see "treadle help" [USAGE]\n`,
    })
  })

  it('with --json the error is JSON', async () => {
    const { code, err } = await new Project().call(['list', '--limit', 'x', '--json'])
    expect(code).toBe(2)
    expect(JSON.parse(err)).toEqual({ error: { code: 'USAGE', message: expect.stringContaining('whole number') } })
  })
})

describe('failures', () => {
  it('what does not exist ends with 4', async () => {
    const project = jobProject()
    await project.call(['migrate'])
    expect(await project.call(['show', 'nope'])).toMatchObject({
      code: 4,
      out: '',
      err: expect.stringContaining('[RUN_NOT_FOUND]'),
    })
    expect(await project.call(['list', '--before', 'nope'])).toMatchObject({ code: 4 })
    for (const args of [
      ['send', 'nope'],
      ['run', '--job', 'nope'],
      ['run', '--dry-run', '--job', 'nope'],
    ]) {
      expect(await project.call(args)).toMatchObject({ code: 4, err: expect.stringContaining('[JOB_UNKNOWN]') })
    }
    const json = await project.call(['show', 'nope', '--json'])
    expect(JSON.parse(json.err)).toEqual({ error: { code: 'RUN_NOT_FOUND', message: expect.any(String) } })
  })

  it('a stack is shown only when it is asked for', async () => {
    const project = new Project({ 'treadle.config.ts': `throw new Error('boom')` })
    expect((await project.call(['list'])).err.split('\n')).toHaveLength(2)
    expect((await project.call(['list', '--verbose'])).err).toMatch(/Error: boom\n +at .*treadle\.config\.ts:1/)
  })

  it('a reader that goes away is none', () => {
    const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
    const piped = spawnSync('sh', ['-c', `"${process.execPath}" "${main}" help --json 2>err | true; cat err`], {
      cwd: new Project().folder,
      encoding: 'utf8',
    })
    expect(piped).toMatchObject({ status: 0, stdout: '', stderr: '' })
  })
})

describe('help', () => {
  it('treadle help explains the exit codes', async () => {
    const { code, out } = await new Project().call(['help'])
    expect(code).toBe(0)
    expect(out).toMatch(/Exit codes:\n +0 +it worked[\s\S]*\n +130 +interrupted/)
    expect((await new Project().call([])).code).toBe(2)
  })

  it.each([...commands, ...deadCommands])('treadle help %s has examples', async (name) => {
    let out = ''
    const program = treadleProgram()
    const write = (text: string) => {
      out += text
    }
    for (const command of [...program.commands, ...program.commands.flatMap((each) => each.commands)])
      command.configureOutput({ writeOut: write })
    await program.parseAsync(['help', ...name.split(' ')], { from: 'user' })
    expect(out).toContain(`Examples:\n  $ treadle ${name}`)
  })

  it('treadle help shows the commands in groups, each command once', () => {
    const lines = treadleProgram().helpInformation().split('\n')
    expect(lines).toEqual(expect.arrayContaining(['Setting up:', 'Acting on jobs:', 'Schedules:']))
    expect(lines).not.toContain('Commands:')
    for (const command of treadleProgram().commands) {
      expect(lines.filter((line) => line.startsWith(`  ${command.name()} `))).toHaveLength(1)
    }
  })

  it.each([40, 60])('descriptions are broken between words in a terminal of %i columns', (width) => {
    const program = treadleProgram()
    const every = [program, ...program.commands.flatMap((each) => [each, ...each.commands])]
    for (const command of every) {
      command.configureOutput({ getOutHelpWidth: () => width })
      // A term alone, or a usage line, is not broken.
      const described = command
        .helpInformation()
        .split('\n')
        .filter((line) => /^ {2,}\S.* {2,}\S|^ {3,}\S/.test(line))
      for (const line of described) expect(line.length, `${command.name()}: ${line}`).toBeLessThanOrEqual(width)
    }
  })

  it('the version is the one of the package', async () => {
    expect((await new Project().call(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
