import type { Run } from 'treadle'
import { ManualClock } from 'treadle/testing'
import { describe, expect, test } from 'vitest'
import { isAlive } from '../processes/alive.ts'
import { eventually } from '../processes/program.ts'
import { type IsolatingProgram, isolatingProgram } from './isolating-program.ts'
import { defineJobs } from './modules/isolated-jobs.mjs'

interface Place {
  readonly pid: number
  readonly threadId: number
}

describe.each(['thread', 'process'] as const)('a %s', (kind) => {
  test('that has run a job runs the next one', async () => {
    const program = isolatingProgram()
    const { where } = defineJobs(program.jobs, kind)
    const runs = await where!.dispatchMany([1, 2, 3])
    await program.jobs.run({ concurrency: 1 })
    const [first, ...others] = await placesOf(program, runs)
    expect(others).toEqual([first, first])
    expect(first).not.toEqual({ pid: process.pid, threadId: 0 })
  })

  test('that was killed is replaced by another one', async () => {
    const program = isolatingProgram()
    const { where, spins } = defineJobs(program.jobs, kind)
    const before = await where!.dispatch()
    await spins!.timeout('300ms').dispatch()
    const after = await where!.dispatch()
    await program.jobs.run({ concurrency: 1 })
    const [first, second] = await placesOf(program, [before, after])
    expect(second).not.toEqual(first)
  })

  test('is not shared by jobs with other limits', async () => {
    const program = isolatingProgram()
    const { where } = defineJobs(program.jobs, kind)
    const { shows } = defineJobs(isolatingProgram().jobs, kind)
    expect(where!.toDefinition().fields.isolation).toEqual(shows!.toDefinition().fields.isolation)
    const roomy = program.jobs.define('roomy', () => {}).isolate(kind, { memory: '512mb', from: moduleFile('named-where.mjs') })
    const runs = [await where!.dispatch(), await roomy.dispatch()]
    await program.jobs.run({ concurrency: 1 })
    const [first, second] = await placesOf(program, runs)
    expect(second).not.toEqual(first)
  })
})

describe('a process that waits for work', () => {
  test('ends after a while, and another one takes the next job', async () => {
    const clock = new ManualClock()
    const program = isolatingProgram({ clock })
    const { where } = defineJobs(program.jobs, 'process')
    const working = program.jobs.work({ signals: false, scheduler: false })
    const first = await placeOf(program, await where!.dispatch())
    await clock.advance(59_000)
    expect(isAlive(first.pid)).toBe(true)
    await clock.advance(1_000)
    await eventually('it has ended', () => !isAlive(first.pid))
    const second = await placeOf(program, await where!.dispatch())
    expect(second.pid).not.toBe(first.pid)
    await program.jobs.stop()
    await working
    expect(isAlive(second.pid)).toBe(false)
  })

  test('ends with the worker', async () => {
    const program = isolatingProgram()
    const run = await defineJobs(program.jobs, 'process').where!.dispatch()
    await program.jobs.run()
    expect(isAlive((await placeOf(program, run)).pid)).toBe(false)
  })

  test('does not hear SIGTERM, which is for its worker', async () => {
    const { jobs, record } = isolatingProgram()
    const run = await defineJobs(jobs, 'process').ignoresTerm!.dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: '"still here"' })
  })
})

describe('a handler that speaks after it has ended', () => {
  test('is not heard in the name of the job that came after it', async () => {
    const { jobs, names, log, record } = isolatingProgram()
    const { remains, hearsTheLast } = defineJobs(jobs, 'thread')
    const runs = [await remains!.dispatch(), await hearsTheLast!.dispatch()]
    await jobs.run({ concurrency: 1 })
    const [first, second] = await Promise.all(runs.map(record))
    expect(first).toMatchObject({ state: 'succeeded', progress: null })
    expect(second).toMatchObject({ state: 'succeeded', progress: null, result: '{"isHeld":false,"code":"STOPPED"}' })
    expect(await (await jobs.store()).links(first!.id)).toEqual([])
    expect(names).toEqual(['job:succeeded', 'job:succeeded'])
    expect(log).toEqual([])
  })
})

async function placesOf(program: IsolatingProgram, runs: readonly Pick<Run, 'id'>[]): Promise<readonly Place[]> {
  return Promise.all(runs.map((run) => placeOf(program, run)))
}

async function placeOf({ record }: IsolatingProgram, run: Pick<Run, 'id'>): Promise<Place> {
  await eventually('it has run', async () => (await record(run)).state === 'succeeded')
  return JSON.parse((await record(run)).result as string) as Place
}

function moduleFile(name: string): URL {
  return new URL(`./modules/${name}`, import.meta.url)
}
