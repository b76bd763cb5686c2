import { describe, expect, test } from 'vitest'
import { isolatingProgram } from './isolating-program.ts'
import { defineJobs, garbage } from './modules/hostile-jobs.mjs'

describe.each(['thread', 'process'] as const)('a handler in a %s', (kind) => {
  test('that sends anything of its own ends as it would have, and so do the jobs after it', async () => {
    const { jobs, log, record, names } = isolatingProgram()
    const { sends, sound } = defineJobs(jobs, kind)
    const whats = Object.keys(garbage)
    const runs = []
    for (const what of whats) runs.push([what, await sends!.dispatch(what), await sound!.dispatch(21)] as const)
    await jobs.run({ concurrency: 1 })
    for (const [what, run, next] of runs) {
      expect(await record(run), what).toMatchObject({ state: 'succeeded', result: JSON.stringify(`its own ${what}`) })
      expect(await record(next), what).toMatchObject({ state: 'succeeded', result: '42' })
    }
    expect(log.filter((line) => line.includes("is not Treadle's"))).toHaveLength(whats.length)
    expect(names).not.toContain('worker:error')
  })

  test('cannot answer for the run that comes after its own', async () => {
    const { jobs, record } = isolatingProgram()
    const { sendsLate, sound } = defineJobs(jobs, kind)
    const [late, next] = [await sendsLate!.dispatch(), await sound!.dispatch(21)]
    await jobs.run({ concurrency: 1 })
    expect(await record(late)).toMatchObject({ state: 'succeeded', result: '"early"' })
    expect(await record(next)).toMatchObject({ state: 'succeeded', result: '42' })
  })

  test('that floods its worker with messages is ended, and nothing else', async () => {
    const { jobs, record } = isolatingProgram()
    const { floods, sound } = defineJobs(jobs, kind)
    const [run, next] = [await floods!.dispatch(), await sound!.dispatch(21)]
    await jobs.run({ concurrency: 1 })
    const error = { code: 'ISOLATE_CRASHED', message: expect.stringContaining("it sent 1000 messages that are not Treadle's") }
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [error] })
    expect(await record(next)).toMatchObject({ state: 'succeeded' })
  })

  test('that logs without end in one turn is cut short', async () => {
    const { jobs, log, record } = isolatingProgram()
    const run = await defineJobs(jobs, kind).logs!.dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded' })
    expect(log).toHaveLength(10_000)
    expect(log.at(-1)).toContain('further lines are dropped')
  })

  test('may receive anything', async () => {
    const { jobs, record } = isolatingProgram()
    const run = await defineJobs(jobs, kind).hears!.dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: '"still there"' })
  })

  test('fails where it uses a channel of Node that is not there', async () => {
    const { jobs, record } = isolatingProgram()
    const { processSend, sound } = defineJobs(jobs, kind)
    const [run, next] = [await processSend!.dispatch(), await sound!.dispatch(21)]
    await jobs.run({ concurrency: 1 })
    expect(await record(run)).toMatchObject({ state: 'dead' })
    expect(await record(next)).toMatchObject({ state: 'succeeded' })
  })
})

describe('a process', () => {
  const outcome = async (job: string, payload: unknown = null) => {
    const { jobs, record } = isolatingProgram()
    const defined = defineJobs(jobs, 'process')
    const [run, next] = [await defined[job]!.dispatch(payload), await defined.sound!.dispatch(21)]
    await jobs.run({ concurrency: 1 })
    expect(await record(next)).toMatchObject({ state: 'succeeded' })
    return record(run)
  }

  test('that writes bytes that are no message into its pipe goes on', async () => {
    expect(await outcome('writesAndReturns')).toMatchObject({ state: 'succeeded', result: '"sound"' })
  })

  test('that announces a message of four gigabytes is ended', async () => {
    const error = { code: 'ISOLATE_CRASHED', message: expect.stringContaining('sent a message of more than') }
    expect(await outcome('writes', [255, 255, 255, 255])).toMatchObject({ state: 'dead', errors: [error] })
  })

  test('that closes its pipe is ended', async () => {
    expect(await outcome('closes')).toMatchObject({ state: 'dead', errors: [{ code: 'ISOLATE_CRASHED' }] })
  })
})
