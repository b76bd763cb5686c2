import type { IsolateKind } from 'treadle'
import { describe, expect, test } from 'vitest'
import { isolatingProgram } from './isolating-program.ts'
import { defineJobs } from './modules/isolated-jobs.mjs'

const crashes: readonly (readonly [kind: IsolateKind, job: string, message: RegExp])[] = [
  ['thread', 'allocates', /^The thread that ran job "thread allocates" ran out of memory \(its limit is 32 MB\)/],
  ['process', 'allocates', /^The process that ran job "process allocates" ran out of memory \(its limit is 32 MB\)/],
  ['thread', 'exits', /^The thread that ran job "thread exits" exited with code 3/],
  ['process', 'exits', /^The process that ran job "process exits" exited with code 3/],
  ['thread', 'rejects', /an uncaught error: loose end/],
  ['process', 'rejects', /an uncaught error: loose end/],
  ['process', 'aborts', /was ended by SIGABRT/],
  ['process', 'faults', /was ended by SIGSEGV/],
]

describe('an isolate that dies', () => {
  test.each(crashes)('fails the attempt and not the worker: in a %s, %s', async (kind, job, message) => {
    const { jobs, names, record } = isolatingProgram()
    const defined = defineJobs(jobs, kind, { memory: '32mb' })
    const run = await defined[job]!.dispatch()
    const next = await defined.where!.dispatch()
    await jobs.run({ concurrency: 1 })
    const error = { code: 'ISOLATE_CRASHED', message: expect.stringMatching(message) }
    expect(await record(run)).toMatchObject({ state: 'dead', reason: 'exhausted', errors: [error] })
    expect(await record(next)).toMatchObject({ state: 'succeeded' })
    expect(names).toEqual(['job:dead', 'job:succeeded'])
  })
})

describe('a module that', () => {
  const load = async (module: string, kind: IsolateKind) => {
    const { jobs, finish } = isolatingProgram()
    const from = new URL(`./modules/${module}`, import.meta.url)
    const run = await jobs
      .define('job', () => {})
      .isolate(kind, { from })
      .retries(1, { base: 1, jitter: 'none' })
      .dispatch()
    return (await finish(run)).errors
  }

  test.each(['thread', 'process'] as const)('cannot be loaded fails each attempt with what is wrong, in a %s', async (kind) => {
    const error = { code: 'CONFIG_LOAD_FAILED', message: expect.stringMatching(/unloadable\.mjs: this module is broken$/) }
    expect(await load('unloadable.mjs', kind)).toMatchObject([error, error])
  })

  test('is not there is named', async () => {
    const error = { code: 'CONFIG_LOAD_FAILED', message: expect.stringMatching(/none\.mjs: Cannot find module/) }
    expect(await load('none.mjs', 'thread')).toMatchObject([error, error])
  })

  test('ends its isolate fails the attempts', async () => {
    const error = { code: 'ISOLATE_CRASHED', message: expect.stringContaining('exited with code 7') }
    expect(await load('exiting.mjs', 'process')).toMatchObject([error, error])
  })

  test('does not define the job is named, with what to do', async () => {
    const message = expect.stringMatching(/^No job "job" .* loads: .*isolated-jobs\.mjs\. .* from: import\.meta\.url/)
    expect(await load('isolated-jobs.mjs', 'thread')).toMatchObject([{ code: 'JOB_UNKNOWN', message }, { code: 'JOB_UNKNOWN' }])
  })

  test('defines a job of this name for several other queues is not guessed at', async () => {
    const { jobs, record } = isolatingProgram()
    const from = new URL('./modules/several.mjs', import.meta.url)
    const run = await jobs
      .define('whose', () => 0)
      .isolate('thread', { from })
      .dispatch()
    await jobs.run()
    expect((await record(run)).errors).toMatchObject([{ code: 'JOB_UNKNOWN', message: expect.stringContaining('for memory') }])
  })
})
