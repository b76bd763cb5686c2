import { existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { restricted } from '../../src/definition/handler.ts'
import { type ProgramError, type ProgramHandler, type ProgramOptions, shell } from '../../src/handlers/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { contextFor, passingCode, permanentCode, thrownBy } from './context.ts'

describe('D2: a shell job', () => {
  test('runs a program and keeps what it wrote', async () => {
    const result = await run(shell(['sh', '-c', 'echo out; echo err >&2']))
    expect(result).toEqual({ exitCode: 0, stdout: 'out\n', stderr: 'err\n' })
  })

  test('A24: hands its arguments over as they are, never through a shell', async () => {
    const result = await run(shell(['printf', '%s|', '$HOME', '; echo x', '`id`', '*']))
    expect(result.stdout).toBe('$HOME|; echo x|`id`|*|')
  })

  test('makes its arguments from the payload', async () => {
    const handler = shell(({ word }: { word: string }) => ['echo', word])
    expect((await handler({ word: 'hello' }, contextFor({ word: 'hello' }))).stdout).toBe('hello\n')
  })

  test('reads the payload as JSON from its standard input when asked to', async () => {
    const payload = { to: 'ada', list: [1, 2] }
    const result = await shell(['cat'], { input: 'payload' })(payload, contextFor<unknown>(payload))
    expect(JSON.parse(result.stdout)).toEqual(payload)
  })

  test('finds its standard input empty otherwise', async () => {
    expect((await shell(['cat'])({ a: 1 }, contextFor<unknown>({ a: 1 }))).stdout).toBe('')
  })

  test('may end without having read its input', async () => {
    const payload = 'x'.repeat(2_000_000)
    const result = await shell(['true'], { input: 'payload' })(payload, contextFor<unknown>(payload))
    expect(result.exitCode).toBe(0)
  })

  test('runs in the folder that it is given', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'treadle-shell-')))
    expect((await run(shell(['pwd', '-P'], { cwd: folder }))).stdout).toBe(`${folder}\n`)
  })

  test("does not see the worker's environment but a few harmless variables and its own", async () => {
    vi.stubEnv('DATABASE_PASSWORD', 'secret')
    vi.stubEnv('LANG', 'C')
    const { stdout } = await run(shell(['/usr/bin/env'], { env: { GREETING: 'hello' } })).finally(() => vi.unstubAllEnvs())
    const lines = stdout.trim().split('\n')
    expect(lines).toContain('GREETING=hello')
    expect(lines).toContain('LANG=C')
    const names = lines.map((line) => line.split('=')[0])
    expect(names.filter((name) => !['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'GREETING'].includes(name as string))).toEqual([])
  })

  test('A24, X22: is marked as restricted', () => {
    expect(shell(['true'])[restricted]).toBe(true)
  })
})

describe('the output of a shell job', () => {
  test('is cut to its last bytes, each stream for itself', async () => {
    const script = 'i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; echo short >&2'
    const result = await run(shell(['sh', '-c', script], { maxOutput: 20 }))
    expect(result.stdout).toBe('line 1998\nline 1999\n')
    expect(result.stderr).toBe('short\n')
  })

  test('is complete when the program writes a lot and exits at once', async () => {
    const result = await run(shell(['sh', '-c', 'head -c 3000000 /dev/zero | tr "\\0" a; printf end'], { maxOutput: 4_000_000 }))
    expect(result.stdout.length).toBe(3_000_003)
    expect(result.stdout.endsWith('end')).toBe(true)
  })

  test('does not hold the run back when a background process keeps it open', async () => {
    const result = await run(shell(['sh', '-c', 'sleep 60 & echo $!']))
    const background = Number(result.stdout)
    expect(isRunning(background)).toBe(true)
    process.kill(background, 'SIGKILL')
  })
})

describe('a shell job that fails', () => {
  test('says the exit code and the end of its stderr, and is retried', async () => {
    const thrown = await thrownBy(() => run(shell(['sh', '-c', 'echo all went wrong >&2; exit 3'])))
    expect(passingCode(thrown)).toBe('PROGRAM_FAILED')
    expect(thrown.message).toBe('"sh" exited with code 3: all went wrong')
    expect((thrown as ProgramError).exitCode).toBe(3)
  })

  test('does not show its arguments in the error', async () => {
    const thrown = await thrownBy(() => run(shell(['false', '--password=secret'])))
    expect(thrown.message).not.toContain('secret')
  })

  test('says which signal ended it', async () => {
    const thrown = await thrownBy(() => run(shell(['sh', '-c', 'kill -9 $$'])))
    expect(thrown.message).toBe('"sh" was ended by SIGKILL')
    expect((thrown as ProgramError).exitCode).toBe(null)
  })

  test.each([
    ['the program is missing', ['treadle-no-such-program'], {}],
    ['the program is no program', [notExecutable()], {}],
    ['the folder is missing', ['true'], { cwd: '/treadle/no/such/folder' }],
  ])('is not tried again when %s', async (_case, argv, options: ProgramOptions) => {
    expect(permanentCode(await thrownBy(() => run(shell(argv, options))))).toBe('PROGRAM_FAILED')
  })

  test('is not tried again when the payload gives bad arguments', async () => {
    const handler = shell((payload: { args: string[] }) => payload.args)
    for (const args of [[], [''], ['echo', 'a\0b'], ['echo', 7 as never], 'echo' as never]) {
      expect(permanentCode(await thrownBy(() => handler({ args }, contextFor({ args }))))).toBe('HANDLER_INVALID')
    }
  })
})

describe('a shell job that is aborted', () => {
  test('ends with everything that it started', async () => {
    const { pids, context, running } = await startAndReport((file) =>
      shell(['sh', '-c', `sleep 60 & echo $$ $! > ${file}; wait`]),
    )
    context.abort(new Error('over its timeout'))
    await expect(running).rejects.toThrow('over its timeout')
    for (const pid of pids) await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 30_000 })
  })

  test('is killed with everything that it started when it does not end by itself in time', async () => {
    const clock = new ManualClock()
    const script = (file: string) => `trap '' TERM; sleep 60 & echo $$ $! > ${file}; wait`
    const { pids, context, running } = await startAndReport((file) =>
      shell(['sh', '-c', script(file)], { clock, killAfter: '3s' }),
    )
    context.abort(new Error('cancelled'))
    await clock.advance(2_999)
    expect(pids.map(isRunning)).toEqual([true, true])
    await clock.advance(1)
    await expect(running).rejects.toThrow('cancelled')
    for (const pid of pids) await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 30_000 })
  })

  test('is over only when the background processes that outlive it are gone too', async () => {
    const clock = new ManualClock()
    const script = (file: string) => `sh -c 'trap "" TERM; echo $PPID $$ > ${file}; sleep 60; true' & wait`
    const { pids, context, running } = await startAndReport((file) =>
      shell(['sh', '-c', script(file)], { clock, killAfter: '3s' }),
    )
    const [leader, background] = pids as [number, number]
    context.abort(new Error('cancelled'))
    let isOver = false
    running.catch(() => {
      isOver = true
    })
    await vi.waitFor(() => expect(existsSync(`/proc/${leader}`)).toBe(false), { timeout: 30_000 })
    await clock.advance(2_999)
    expect({ isOver, isRunning: isRunning(background) }).toEqual({ isOver: false, isRunning: true })
    await clock.advance(1)
    await expect(running).rejects.toThrow('cancelled')
    await vi.waitFor(() => expect(isRunning(background)).toBe(false), { timeout: 30_000 })
  })

  test('is not started at all when the abort came first', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'treadle-shell-')), 'started')
    const context = contextFor<unknown>(null)
    context.abort(new Error('too late'))
    await expect(shell(['touch', file])(null, context)).rejects.toThrow('too late')
    expect(() => readFileSync(file)).toThrow('ENOENT')
  })
})

describe('making a shell job', () => {
  test.each([
    ['no program', []],
    ['an empty program', ['']],
    ['a NUL character', ['echo', 'a\0b']],
    ['what is not a text', ['echo', 7]],
    ['a command line', 'echo hello'],
  ])('refuses %s', (_case, argv) => {
    expect(() => shell(argv as never)).toThrow(expect.objectContaining({ code: 'HANDLER_INVALID' }))
  })

  test.each([
    ['an option that does not exist', { shell: true }],
    ['an environment of other things than texts', { env: { A: 1 } }],
    ['a variable that is two', { env: { 'A=B': 'c' } }],
    ['another input than the payload', { input: 'hello' }],
    ['a size that is none', { maxOutput: 0 }],
    ['a folder that is none', { cwd: 7 }],
  ])('refuses %s', (_case, options) => {
    expect(() => shell(['true'], options as never)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })

  test('keeps its own copy of the arguments', async () => {
    const argv = ['echo', 'first']
    const handler = shell(argv)
    argv[1] = 'second'
    expect((await run(handler)).stdout).toBe('first\n')
  })
})

async function run(handler: ProgramHandler<unknown>) {
  return await handler(null, contextFor<unknown>(null))
}

function notExecutable(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'treadle-shell-')), 'notes.txt')
  writeFileSync(file, 'echo hello', { mode: 0o644 })
  return file
}

/** Starts a job that writes the pids of its processes to a file, and waits until it has. */
async function startAndReport(make: (file: string) => ProgramHandler<unknown>) {
  const file = join(mkdtempSync(join(tmpdir(), 'treadle-shell-')), 'pids')
  const context = contextFor<unknown>(null)
  const running = Promise.resolve(make(file)(null, context))
  // The test awaits it after the abort; until then a rejection is not unhandled.
  running.catch(() => {})
  const pids = await vi.waitFor(
    () => {
      const text = readFileSync(file, 'utf8')
      if (!text.endsWith('\n')) throw new Error('not written yet')
      return text.trim().split(' ').map(Number)
    },
    { timeout: 30_000 },
  )
  return { pids, context, running }
}

/** A process that has ended but that its parent has not asked about counts as gone. */
function isRunning(pid: number): boolean {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]
    return state !== undefined && !/^[ZX]/.test(state)
  } catch {
    return false
  }
}
