import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { parseCommandLine } from '../../scripts/services/command-line.mjs'
import { withoutServers } from '../../scripts/services/engines.mjs'
import { Program } from '../processes/program.ts'
import { canStart } from '../services.ts'

const script = fileURLToPath(new URL('../../scripts/services.mjs', import.meta.url))
const started: Program[] = []
afterEach(async () => {
  for (const program of started.splice(0)) await program.kill()
})

describe('npm run services', () => {
  test.skipIf(!canStart('postgres'))('runs a command with the URLs in its environment, and ends with its exit code', async () => {
    const look = 'console.log(process.env.TREADLE_TEST_POSTGRES_URL); process.exit(7)'
    const program = services('--only', 'postgres', '--', process.execPath, '-e', look)
    expect(await program.ended).toEqual({ code: 7, signal: null })
    expect(program.lines).toEqual([expect.stringMatching(/^postgres:\/\/postgres@127\.0\.0\.1:\d+\/postgres$/)])
  })

  test.skipIf(!canStart('postgres'))('passes a signal on, and keeps the servers until the command has ended', async () => {
    const command = `
      import pg from ${JSON.stringify(import.meta.resolve('pg'))}
      process.on('SIGTERM', async () => {
        const client = new pg.Client({ connectionString: process.env.TREADLE_TEST_POSTGRES_URL })
        await client.connect()
        console.log('reached')
        process.exit(3)
      })
      setInterval(() => {}, 60_000)
      console.log('ready')`
    const program = services('--only=postgres', process.execPath, '--input-type=module', '-e', command)
    await program.line('ready')
    program.signal('SIGTERM')
    expect(await program.ended).toEqual({ code: 3, signal: null })
    expect(program.lines).toContain('reached')
  })

  test('without a command tells the URLs, and runs until it is told to stop', async () => {
    const url = 'mysql://root@127.0.0.1:3306/mysql'
    const program = services({ TREADLE_TEST_MYSQL_URL: url }, '--only', 'mysql')
    expect(await program.line('export')).toBe(`export TREADLE_TEST_MYSQL_URL='${url}'`)
    program.signal('SIGINT')
    expect(await program.ended).toEqual({ code: 0, signal: null })
  })

  test('starts nothing when a server is missing, and says which one and how to get it', async () => {
    const program = services({ PATH: '/nowhere' }, '--only', 'mysql', '--', process.execPath, '-e', 'console.log("run")')
    expect(await program.ended).toEqual({ code: 1, signal: null })
    expect(program.lines).toEqual([])
    expect(program.stderr).toBe(`MySQL is missing.
  - TREADLE_TEST_MYSQL_URL is not set
  - docker compose: docker is not installed
Start a docker engine, or name a server that runs already: TREADLE_TEST_MYSQL_URL=mysql://user:password@127.0.0.1:3306/test
`)
  })
})

describe('the command line', () => {
  const nothing = { help: false, durable: false, only: null, command: [] }

  test.each([
    [[], {}],
    [['--help'], { help: true }],
    [['--durable', '--only', 'postgres, redis'], { durable: true, only: ['postgres', 'redis'] }],
    [['npx', 'vitest', '--help'], { command: ['npx', 'vitest', '--help'] }],
    [['--only=mysql', '--', '--durable'], { only: ['mysql'], command: ['--durable'] }],
  ])('%j', (args, expected) => {
    expect(parseCommandLine(args)).toEqual({ ...nothing, ...expected })
  })

  test.each([
    [['--fast'], '--fast is not known'],
    [['--only'], '--only knows postgres, mariadb, mysql, redis, valkey, beanstalkd, not ""'],
    [['--only', 'postgres,oracle'], 'not "oracle"'],
  ])('%j is refused', (args, problem) => {
    expect(() => parseCommandLine(args)).toThrow(problem)
  })
})

function services(...args: readonly [NodeJS.ProcessEnv, ...string[]] | readonly string[]): Program {
  const [first, ...rest] = args
  const [variables, words] = typeof first === 'object' ? [first, rest] : [{}, args]
  const env = { ...withoutServers(process.env), ...variables }
  const child = spawn(process.execPath, [script, ...(words as readonly string[])], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  const program = new Program('services', child)
  started.push(program)
  return program
}
