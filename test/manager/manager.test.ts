import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { environmentVariable } from '../../src/core/process/environment.ts'
import type { ManagerEvent } from '../../src/manager/events.ts'
import { manage } from '../../src/manager/manager.ts'
import type { ManagerOptions } from '../../src/manager/options.ts'
import { until } from '../world.ts'
import { JobServer } from './job-server.ts'

/** A manager of programs in a folder, on the real clock: it deals with real processes. */
async function managing(programs: Readonly<Record<string, string>>, options: Partial<ManagerOptions> = {}) {
  const server = await JobServer.start()
  const folder = workersFolder(programs)
  const events: ManagerEvent[] = []
  const [stopping, aborting] = [new AbortController(), new AbortController()]
  const ended = manage({
    name: '*',
    workers: folder,
    port: server.port,
    loadAverage: () => 0,
    signal: stopping.signal,
    abort: aborting.signal,
    onEvent: (event) => void events.push(event),
    ...options,
  })
  onTestFinished(async () => {
    stopping.abort()
    aborting.abort()
    await ended.catch(() => {})
  })
  const happened = (name: ManagerEvent['event']) => events.filter(({ event }) => event === name).length
  return { server, folder, events, happened, ended, stop: () => stopping.abort(), abort: () => aborting.abort() }
}

/** Each program is a script of the shell. */
function workersFolder(programs: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'treadle-workers-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, script] of Object.entries(programs)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `#!/bin/sh\n${script}\n`)
    chmodSync(path, 0o755)
  }
  return folder
}

describe('a worker that is a program', () => {
  test('gets the job, and what it says last becomes the data', async () => {
    const { server } = await managing({
      Echo: `read -r job; echo noise; printf '{"id":%s,"name":"%s","job":%s}' "$1" "$2" "$job"`,
    })
    const jobID = server.add('Echo', { text: 'é "x"' })
    expect(await server.endOf(jobID)).toEqual({
      how: 'finishjob',
      data: { id: jobID, name: 'Echo', job: { jobID, name: 'Echo', data: { text: 'é "x"' } } },
      delay: undefined,
    })
  })

  test('gets large numbers as they are, and so does the server what it says', async () => {
    const { server } = await managing({
      Echo: `read -r job; echo "$job"`,
      Fails: 'exit 3',
      Later: `echo '{"delay":1,"data":{"n":9007199254740995}}'; exit 75`,
    })
    const data = '{"n":9007199254740993}'
    const [echo, fails, later] = ['Echo', 'Fails', 'Later'].map((name) => server.addText(name, data)) as [number, number, number]
    for (const jobID of [echo, fails, later]) await server.endOf(jobID)
    expect(server.texts.get(echo)).toBe(`{"jobID":${echo},"name":"Echo","data":${data}}`)
    expect(server.texts.get(fails)).toContain('{"n":9007199254740993,"error":')
    expect(server.texts.get(later)).toBe('{"n":9007199254740995}')
  })

  test.each([
    ['exit 0', { how: 'finishjob', data: undefined, delay: undefined }],
    ['echo "all is well"', { how: 'finishjob', data: undefined, delay: undefined }],
    ['echo "[1]"', { how: 'finishjob', data: undefined, delay: undefined }],
    ['exit 75', { how: 'retryjob', data: undefined, delay: '60', ignoreRepeat: 'true' }],
    ['echo \'{"delay":2.5,"data":{"a":1}}\'; exit 75', { how: 'retryjob', data: { a: 1 }, delay: '3' }],
    ['echo \'{"delay":-1,"data":[]}\'; exit 75', { how: 'retryjob', data: undefined, delay: '60' }],
    ['echo "no disk" >&2; exit 3', { how: 'failjob', data: { n: 1, error: 'its worker exited with code 3: no disk' } }],
    ['kill -9 $$', { how: 'failjob', data: { n: 1, error: 'its worker was ended by SIGKILL' } }],
  ])('%s', async (script, end) => {
    const { server } = await managing({ Job: script })
    expect(await server.endOf(server.add('Job', { n: 1 }))).toMatchObject(end)
  })

  test('fails its job if the server refuses the data that it ended with, and not the end itself', async () => {
    const { server, events } = await managing({ Job: `echo '{"much":1}'` })
    const tooLarge = { code: 402, text: 'Malformed data' }
    const { refusals } = server
    refusals.push(tooLarge)
    expect(await server.endOf(server.add('Job', { n: 1 }))).toMatchObject({
      how: 'failjob',
      data: { n: 1, error: 'the server refuses the data that it ended with: 402 Malformed data' },
    })
    refusals.push(tooLarge, tooLarge)
    expect(await server.endOf(server.add('Job', { n: 2 }))).toMatchObject({ how: 'failjob', data: undefined })
    refusals.push({ code: 405, text: 'Can only retry/finish RUNNING and RUNQUEUED jobs' })
    const lost = server.add('Job')
    await until(() => refusals.length === 0)
    await server.endOf(server.add('Job'))
    expect(server.ended.has(lost)).toBe(false)
    expect(events.filter(({ event }) => event === 'job:failed')).toHaveLength(2)
  })

  test('sees the environment that it is given, and PATH without one', async () => {
    const script = 'echo "{\\"path\\":\\"$PATH\\",\\"secret\\":\\"$SECRET\\"}"'
    const usual = await managing({ Job: script })
    expect((await usual.server.endOf(usual.server.add('Job'))).data).toEqual({ path: environmentVariable('PATH'), secret: '' })
    const given = await managing({ Job: script }, { env: { SECRET: 's', PATH: '/bin' } })
    expect((await given.server.endOf(given.server.add('Job'))).data).toEqual({ path: '/bin', secret: 's' })
  })

  test("sees nothing of what is the manager's own", async () => {
    const env = {
      PATH: environmentVariable('PATH') as string,
      TREADLE_TOKEN: 's3cret',
      treadle_signing_key: 's3cret',
      TREADLE_URL: 's3cret',
    }
    const files = process.platform === 'linux' ? 'for file in /proc/$$/fd/*; do readlink $file >&2; done;' : ''
    const { server } = await managing(
      { Job: `env >&2; echo "args $*" >&2; echo files >&2; ${files} exit 3` },
      { env, token: 's3cret' },
    )
    const { data } = await server.endOf(server.add('Job'))
    const { error } = data as { readonly error: string }
    expect(error).toContain('args 1 Job')
    expect(error).not.toMatch(/s3cret|treadle_/i)
    // Its input and outputs, and the shell's own script.
    const open = new Set(error.slice(error.lastIndexOf('files')).split('\n').slice(1))
    expect([...open].filter((file) => !/^socket:|^pipe:/.test(file))).toEqual(
      open.size === 0 ? [] : [expect.stringMatching(/Job$/)],
    )
    expect(open.size).toBeLessThanOrEqual(4)
  })

  test('is ended with all that it started when its time is up', async () => {
    const script = 'sleep 600 & echo $! > "$(dirname "$0")/pid"; wait'
    const { server, folder } = await managing({ Slow: script }, { timeLimit: 5_000 })
    const end = await server.endOf(server.add('Slow'))
    expect(end).toMatchObject({ how: 'failjob', data: { error: 'it took longer than 5s and was ended' } })
    const started = Number(readFileSync(join(folder, 'pid'), 'utf8'))
    expect(() => process.kill(started, 0)).toThrow('ESRCH')
  })
})

describe('the worker of a name', () => {
  const say = (text: string) => `echo '{"worker":"${text}"}'`

  test('lies in a folder of its own, or beside the others', async () => {
    const { server } = await managing({ 'mail/Welcome': say('mail'), Welcome: say('plain') })
    const data = async (name: string) => (await server.endOf(server.add(name))).data
    expect(await data('mail/Welcome')).toEqual({ worker: 'mail' })
    expect(await data('www-prod/Welcome')).toEqual({ worker: 'plain' })
    expect(await data('Welcome')).toEqual({ worker: 'plain' })
  })

  test.each([
    '../outside',
    '..',
    '/bin/sh',
    'a//b',
    '.hidden',
    'mail/../Welcome',
    'a\\b',
    'nul\0',
    'mail',
    'C:x',
    'node_modules/tool/run',
    'mail/node_modules/run',
    'NODE_MODULES/Welcome',
    'Welcome.test',
    'Welcome.SPEC',
    'Welcome.test.sh',
    'types.d',
    '__tests__/Welcome',
    'mail/__mocks__/Welcome',
    'linked-test',
    'linked-hidden',
    'WELCOME',
    'welcome?x=../../Welcome',
    '../outside?x=1',
    '?Welcome',
    '',
    '%2e%2e/outside',
    'mail/.hidden',
    './Welcome',
    'Welcome/',
  ])('is none for %j', async (name) => {
    const inside = { 'in/mail/Welcome': say('mail'), 'in/Welcome': say('plain'), 'in/.hidden': say('hidden') }
    const installed = { 'in/node_modules/tool/run': say('tool'), 'in/mail/node_modules/run': say('tool') }
    const tests = ['Welcome.test', 'Welcome.test.sh', 'types.d', '__tests__/Welcome', 'mail/__mocks__/Welcome', 'mail/.hidden']
    const unmeant = Object.fromEntries(tests.map((file) => [`in/${file}`, say('a test')]))
    const outer = workersFolder({ ...inside, ...installed, ...unmeant, outside: say('outside') })
    for (const [name, target] of [
      ['linked-test', 'Welcome.test'],
      ['linked-hidden', '.hidden'],
    ] as const) {
      symlinkSync(join(outer, 'in', target), join(outer, 'in', name))
    }
    const { server } = await managing({}, { workers: join(outer, 'in') })
    const end = await server.endOf(server.add(name, { n: 1 }))
    expect(end).toMatchObject({ how: 'failjob', data: { n: 1, error: expect.any(String) } })
  })

  test.each([
    ['mail/*', 'mail/Deploy'],
    ['mail/*', 'Deploy'],
    ['mail/*', 'Deploy?mail/x'],
    ['mail/*,Welcome', 'mail/Deploy'],
    ['mail/Deploy', 'mail/Deploy'],
    ['*mail/*', 'Deploy?mail/x'],
  ])('is only one that the pattern %s admits, whatever the server hands out: not for %s', async (pattern, name) => {
    const { server } = await managing({ Deploy: say('deploys'), 'mail/Welcome': say('mail') }, { name: pattern })
    server.ignoresPatterns = true
    const end = await server.endOf(server.add(name))
    expect(end).toMatchObject({ how: 'failjob', data: { error: expect.stringMatching(/is not one of|there is no worker/) } })
  })

  test('is found without what follows a question mark', async () => {
    const { server } = await managing({ 'mail/Welcome': 'echo "{\\"name\\":\\"$2\\"}"' }, { name: 'mail/*' })
    const end = await server.endOf(server.add('mail/Welcome?user=7'))
    expect(end).toMatchObject({ how: 'finishjob', data: { name: 'mail/Welcome?user=7' } })
  })

  test.skipIf(process.platform === 'win32')('is none where others may write it', async () => {
    const { server, folder } = await managing({ Job: say('plain'), 'mail/Job': say('mail') })
    chmodSync(join(folder, 'Job'), 0o777)
    expect((await server.endOf(server.add('Job'))).data).toMatchObject({
      error: expect.stringMatching(/^its worker is not run: .*Job may be written to by everybody .*chmod go-w/),
    })
    chmodSync(join(folder, 'mail'), 0o777)
    expect((await server.endOf(server.add('mail/Job'))).data).toMatchObject({
      error: expect.stringMatching(/mail may be written to by everybody/),
    })
  })

  test.runIf(process.geteuid?.() === 0)('is none where it belongs to somebody else', async () => {
    const { server, folder } = await managing({ Job: say('plain') })
    chownSync(join(folder, 'Job'), 65_534, 65_534)
    expect((await server.endOf(server.add('Job'))).data).toMatchObject({
      error: expect.stringContaining('belongs to another user (65534)'),
    })
  })

  test('is none where there is no file, and the job says so', async () => {
    const { server, folder } = await managing({})
    const end = await server.endOf(server.add('Missing', { n: 1 }))
    expect(end).toMatchObject({ how: 'failjob', data: { n: 1 } })
    expect(end.data).toMatchObject({
      error: `there is no worker for it: neither a module Missing.ts, .js, … nor a program Missing in ${folder}`,
    })
  })

  test('is none where a link leads out of the folder', async () => {
    const { server, folder } = await managing({})
    symlinkSync('/bin/true', join(folder, 'Out'))
    symlinkSync('/bin', join(folder, 'bin'))
    for (const name of ['Out', 'bin/true']) {
      expect((await server.endOf(server.add(name))).data).toMatchObject({
        error: expect.stringContaining('leads out of the folder'),
      })
    }
  })

  test('is none where it may not be executed', async () => {
    const { server, folder } = await managing({ Job: 'exit 0' })
    chmodSync(join(folder, 'Job'), 0o644)
    expect((await server.endOf(server.add('Job'))).data).toMatchObject({ error: expect.stringContaining('chmod +x') })
  })
})

describe('resources', () => {
  test('no job is asked for while the load is too high', async () => {
    const load = { now: 5, looks: 0 }
    const loadAverage = () => {
      load.looks++
      return load.now
    }
    const { server } = await managing({ Job: 'exit 0' }, { maxLoad: 5, loadAverage })
    const jobID = server.add('Job')
    await until(() => load.looks >= 3)
    expect(server.isAsked).toBe(false)
    load.now = 4.9
    await server.endOf(jobID)
  })

  test('no more jobs run at once than are allowed', async () => {
    const { server, events } = await managing({ Job: 'sleep 0.05' }, { maxJobs: 2 })
    const jobs = Array.from({ length: 7 }, () => server.add('Job'))
    for (const job of jobs) await server.endOf(job)
    let [running, most] = [0, 0]
    for (const { event } of events) {
      if (event === 'job:started') running++
      else if (event === 'job:finished') running--
      most = Math.max(most, running)
    }
    expect(most).toBe(2)
  })
})

describe('the end of a manager', () => {
  test('waits for the jobs that run, and begins no other', async () => {
    const { server, stop, ended, happened, folder } = await managing({
      Job: 'while [ ! -e "$(dirname "$0")/go" ]; do sleep 0.02; done',
    })
    const first = server.add('Job')
    await until(() => happened('job:started') === 1)
    stop()
    server.add('Job')
    writeFileSync(join(folder, 'go'), '')
    expect(await ended).toEqual({ finished: 1, retried: 0, failed: 0, returned: 0 })
    expect([...server.ended.keys()]).toEqual([first])
  })

  test('by force ends the jobs that run and gives them back', async () => {
    const { server, stop, abort, ended, happened } = await managing({ Job: 'sleep 600' })
    const jobID = server.add('Job')
    await until(() => happened('job:started') === 1)
    stop()
    abort()
    expect(await ended).toMatchObject({ returned: 1 })
    expect(server.ended.get(jobID)).toMatchObject({ how: 'retryjob', delay: '0', ignoreRepeat: 'true' })
  })

  test('comes when the version file changes', async () => {
    const folder = workersFolder({})
    const versionFile = join(folder, 'REVISION')
    writeFileSync(versionFile, '1')
    const { server, ended, events } = await managing({ Job: 'exit 0' }, { versionFile })
    await server.endOf(server.add('Job'))
    writeFileSync(versionFile, 'another one')
    expect(await ended).toMatchObject({ finished: 1 })
    expect(events).toContainEqual({ event: 'manager:draining', why: `${versionFile} has changed`, running: 0 })
  })

  test('comes after so many turns', async () => {
    const { server, ended } = await managing({ Job: 'exit 0' }, { maxIterations: 2 })
    const first = server.add('Job')
    await server.endOf(first)
    server.add('Job')
    expect(await ended).toMatchObject({ finished: 2 })
    expect(server.asked).toHaveLength(2)
  })
})

describe('trouble', () => {
  test('a server that cannot be reached is waited for, and told what was done meanwhile', async () => {
    const { server, ended, stop, events, happened } = await managing({ Job: 'exit 0' })
    // No reply of the protocol: as if another program listened there.
    server.refusals.push({ code: 1, text: 'OK' })
    const jobID = server.add('Job')
    await server.endOf(jobID)
    await until(() => happened('job:finished') === 1)
    stop()
    expect(await ended).toMatchObject({ finished: 1 })
    expect(events).toContainEqual({
      event: 'manager:trouble',
      error: expect.stringContaining(`The end of job ${jobID} could not be reported`),
    })
  })

  test.each([
    [405, 'Can only retry/finish RUNNING and RUNQUEUED jobs'],
    [500, 'Mock Mismatch'],
    [502, 'Failed to update'],
  ])('a job that the server does not let end is left to it: %i %s', async (code, text) => {
    const { server, ended, stop, happened } = await managing({ Job: 'exit 0' }, { maxJobs: 1 })
    server.refusals.push({ code, text })
    const [refused, next] = [server.add('Job'), server.add('Job')]
    await server.endOf(next)
    stop()
    expect(await ended).toMatchObject({ finished: 1 })
    expect(server.ended.has(refused)).toBe(false)
    expect(happened('manager:trouble')).toBe(1)
  })

  test.each([
    [555, 'Timeout'],
    [556, 'Replication failed'],
    [500, 'Refused'],
    [500, 'Unhandled Exception'],
  ])('a server with trouble of its own is told again: %i %s', async (code, text) => {
    const { server, happened } = await managing({ Job: 'exit 0' })
    server.refusals.push({ code, text })
    await server.endOf(server.add('Job'))
    await until(() => happened('job:finished') === 1)
  })

  test('a server that cannot look for jobs is asked again', async () => {
    const { server, happened } = await managing({ Job: 'exit 0' })
    server.turnsAway = { code: 502, text: 'Query failed' }
    // The request that waits already is not turned away.
    server.add('Job')
    await until(() => happened('manager:trouble') === 1)
    server.turnsAway = undefined
    const jobID = server.add('Job')
    expect(await server.endOf(jobID)).toMatchObject({ how: 'finishjob' })
  })

  test('a server that turns it away ends it, after the jobs that run', async () => {
    const { server, ended, happened, folder } = await managing({
      Job: 'while [ ! -e "$(dirname "$0")/go" ]; do sleep 0.02; done',
    })
    const refused = expect(ended).rejects.toMatchObject({ code: 'SERVER_REFUSED', status: 401 })
    const jobID = server.add('Job')
    await until(() => happened('job:started') === 1)
    server.turnsAway = { code: 401, text: 'Unauthorized' }
    server.add('Job')
    await until(() => happened('manager:draining') === 1)
    writeFileSync(join(folder, 'go'), '')
    await refused
    expect(server.ended.get(jobID)).toMatchObject({ how: 'finishjob' })
  })

  test('a server that is not there is asked again', async () => {
    const { events, stop, ended, happened } = await managing({}, { port: 1 })
    await until(() => happened('manager:trouble') >= 1)
    stop()
    await ended
    expect(events).toContainEqual({ event: 'manager:trouble', error: expect.stringContaining('127.0.0.1:1 cannot be reached') })
  })

  test.each([
    [{ name: '' }, "name must be a pattern of names, such as 'mail/*'"],
    [{ maxLoad: 0 }, 'maxLoad must be a number above 0, got 0'],
    [{ maxJobs: 1.5 }, 'maxJobs must be a whole number from 1 to 10000, got 1.5'],
    [{ timeLimit: 'soon' }, 'timeLimit must be'],
    [{ maxlaod: 1 } as never, 'unknown option "maxlaod"'],
  ])('%j is refused', async (options, message) => {
    const attempt = manage({ name: '*', workers: '.', ...options })
    await expect(attempt).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) })
  })
})
