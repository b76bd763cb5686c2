import { afterEach, describe, expect, test } from 'vitest'
import { isAlive } from '../processes/alive.ts'
import { eventually } from '../processes/program.ts'
import { type IsolatingProgram, isolatingProgram } from './isolating-program.ts'
import { defineJobs } from './modules/isolated-jobs.mjs'

/** Long enough for a process to start on a busy machine: what is tried again has to end within it. */
const deadline = '10s'
const soon = { base: 1, jitter: 'none' } as const

describe.each(['thread', 'process'] as const)('a handler in a %s that never lets go of its event loop', (kind) => {
  test('A20 X19 X34 Y12 D7: is killed at its deadline, has failed with TIMEOUT and is tried again', async () => {
    const { jobs, names, finish } = isolatingProgram()
    const { spinsOnce } = defineJobs(jobs, kind)
    const run = await spinsOnce!.timeout(deadline).retries(1, soon).singleInstance().dispatch()
    expect(await finish(run)).toMatchObject({
      attempts: 2,
      result: '"the second time"',
      errors: [{ attempt: 1, code: 'TIMEOUT' }],
    })
    expect(names).toEqual(['job:failed', 'job:succeeded'])
  })

  test('is killed when its job is cancelled, and makes room for the next', async () => {
    const { jobs, names, record } = isolatingProgram()
    const { spins, where } = defineJobs(jobs, kind)
    const [run, next] = [await spins!.dispatch(), await where!.dispatch()]
    const working = jobs.work({ concurrency: 1, signals: false })
    await began(record, run)
    await run.cancel()
    await eventually('the next one has run', async () => (await record(next)).state === 'succeeded')
    await jobs.stop()
    await working
    expect(await record(run)).toMatchObject({ state: 'cancelled', errors: [] })
    expect(names).toEqual(['job:cancelled', 'job:succeeded'])
  })

  test('is killed at the end of a shutdown, and its job given back with its attempt', async () => {
    const { jobs, names, record } = isolatingProgram()
    const run = await defineJobs(jobs, kind).spins!.dispatch()
    const working = jobs.work({ grace: 0, signals: false })
    await began(record, run)
    await jobs.stop()
    expect(await working).toMatchObject({ released: 1, dead: 0, retried: 0 })
    expect(await record(run)).toMatchObject({ state: 'ready', attempts: 0, errors: [] })
    expect(names).toEqual(['job:released'])
  })
})

describe.each(['thread', 'process'] as const)('a handler in a %s that heeds its signal', (kind) => {
  test.each([
    { why: 'timeout', code: 'TIMEOUT', state: 'dead' },
    { why: 'cancel', code: 'STOPPED', state: 'cancelled' },
  ])('sees the same reason there, $why, and is killed once its grace is over', async ({ why, code, state }) => {
    const { jobs, record } = isolatingProgram()
    const { heeds } = defineJobs(jobs, kind, { grace: '300ms' })
    const run = await (why === 'timeout' ? heeds!.timeout(deadline) : heeds!).dispatch()
    const working = jobs.run()
    await began(record, run)
    if (why === 'cancel') await run.cancel()
    await working
    expect(await record(run)).toMatchObject({ state, progress: JSON.stringify({ name: 'TreadleError', code }) })
  })
})

describe('a process that is killed', () => {
  const started: number[] = []
  afterEach(() => {
    for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })

  test('takes with it what it started', async () => {
    const { jobs, record } = isolatingProgram()
    const run = await defineJobs(jobs, 'process').startsAnother!.dispatch()
    const working = jobs.run()
    const { pid } = await began(record, run)
    started.push(pid)
    expect(isAlive(pid)).toBe(true)
    await run.cancel()
    await working
    await eventually('nothing of it is left', () => !isAlive(pid))
  })
})

/** What it says first of its progress. */
async function began(record: IsolatingProgram['record'], run: { readonly id: string }): Promise<{ readonly pid: number }> {
  await eventually('the handler has begun', async () => (await record(run)).progress !== null)
  return JSON.parse((await record(run)).progress as string)
}
