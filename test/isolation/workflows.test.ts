import { type Treadle, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scratchFolder } from '../processes/database.ts'
import { eventually } from '../processes/program.ts'
import { defineJobs } from './modules/isolated-jobs.mjs'

describe.each(['thread', 'process'] as const)('a handler in a %s', (kind) => {
  let folder: ReturnType<typeof scratchFolder>
  let jobs: Treadle
  beforeEach(() => {
    folder = scratchFolder()
    const url = `sqlite:${folder.file('jobs.db')}`
    process.env.ISOLATED_JOBS_URL = url
    jobs = treadle(url)
  })
  afterEach(async () => {
    delete process.env.ISOLATED_JOBS_URL
    await jobs.close()
    folder.remove()
  })

  test('makes a child by its builder, and has a handle of it that works there', async () => {
    const run = await defineJobs(jobs, kind).asksItsChild!.onChildFailure('ignore').dispatch()
    await jobs.run()
    const [child] = await (await jobs.store()).links(run.id)
    expect(await run.result()).toEqual({
      id: child?.id,
      job: `${kind} doubles`,
      created: true,
      before: 'scheduled',
      isCancelled: true,
      after: 'cancelled',
      refused: 'DURATION_INVALID',
    })
  })

  test('makes a child by its class, whatever its key is, and none by a changed copy, which only exists there', async () => {
    const run = await defineJobs(jobs, kind).namesItsChild!.dispatch()
    await jobs.run()
    const parent = await (await jobs.store()).get(run.id)
    expect(JSON.parse(String(parent?.result))).toMatchObject({
      job: `${kind} halves`,
      code: 'DEFINITION_INVALID',
      message: expect.stringContaining('{ queue: '),
    })
  })

  test('does not end before a call that it has not waited for, and fails with it', async () => {
    const { forgetsItsChild } = defineJobs(jobs, kind)
    const made = await forgetsItsChild!.dispatch(4)
    await jobs.run()
    expect(await (await jobs.store()).links(made.id)).toMatchObject([{ kind: 'child', state: 'succeeded' }])
    const refused = await forgetsItsChild!.dispatch(2_000_000)
    await jobs.run()
    const errors = [{ code: 'PAYLOAD_TOO_LARGE' }]
    expect(await (await jobs.store()).get(refused.id)).toMatchObject({ state: 'dead', errors })
  })

  test('leaves its run to wait for its children, and finds them when it comes back', async () => {
    const run = await defineJobs(jobs, kind).sums!.dispatch()
    expect(await jobs.run()).toMatchObject({ waiting: 1, succeeded: 2 })
    expect(await run.result()).toEqual({ isSame: true, hasMethods: true, result: 8 })
    expect(await (await jobs.store()).get(run.id)).toMatchObject({ attempts: 1 })
  })

  test('sees what it waited for', async () => {
    const { doubles, looksBack } = defineJobs(jobs, kind)
    const first = await doubles!.dispatch(21)
    const run = await looksBack!.dispatch(null, { dependsOn: first })
    await jobs.run()
    expect(await run.result()).toEqual([{ job: `${kind} doubles`, state: 'succeeded', result: 42 }])
  })

  test('that is killed at its deadline has its child once, and the job is tried again', async () => {
    const { leavesAChild } = defineJobs(jobs, kind)
    const run = await leavesAChild!.timeout('8s').retries(1, { base: 1, jitter: 'none' }).dispatch()
    const store = await jobs.store()
    while ((await store.get(run.id))?.finishedAt === null) await jobs.run()
    expect(await store.get(run.id)).toMatchObject({
      state: 'dead',
      attempts: 2,
      errors: [{ code: 'TIMEOUT' }, { code: 'TIMEOUT' }],
    })
    expect(await store.links(run.id)).toMatchObject([{ kind: 'child', key: 'only', state: 'succeeded', result: '8' }])
  })

  test('that is killed by a cancellation leaves its child alone', async () => {
    const run = await defineJobs(jobs, kind).leavesAChild!.dispatch()
    const store = await jobs.store()
    const working = jobs.run({ concurrency: 1 })
    await eventually('it has begun', async () => (await store.get(run.id))?.progress !== null)
    await run.cancel()
    await working
    expect(await store.get(run.id)).toMatchObject({ state: 'cancelled', errors: [] })
    expect(await store.links(run.id)).toMatchObject([{ key: 'only', state: 'succeeded' }])
  })

  test('that is delivered at most once and is killed is dead, and not tried again', async () => {
    const run = await defineJobs(jobs, kind).spins!.delivery('at-most-once').timeout('300ms').dispatch()
    expect(await jobs.run()).toMatchObject({ dead: 1, retried: 0 })
    expect(await (await jobs.store()).get(run.id)).toMatchObject({ state: 'dead', reason: 'exhausted', attempts: 1 })
  })

  test('that is delivered at most once and is cut off by a shutdown is dead as interrupted', async () => {
    const run = await defineJobs(jobs, kind).spins!.delivery('at-most-once').dispatch()
    const store = await jobs.store()
    const working = jobs.work({ grace: 0, signals: false, scheduler: false })
    await eventually('it has begun', async () => (await store.get(run.id))?.progress !== null)
    await jobs.stop()
    expect(await working).toMatchObject({ dead: 1, released: 0 })
    expect(await store.get(run.id)).toMatchObject({ state: 'dead', reason: 'interrupted', attempts: 1 })
  })

  test('that is delivered at most once cannot be snoozed', async () => {
    const run = await defineJobs(jobs, kind).snoozes!.delivery('at-most-once').dispatch()
    await jobs.run()
    expect(await (await jobs.store()).get(run.id)).toMatchObject({ state: 'dead', errors: [{ code: 'DELIVERY_INVALID' }] })
  })

  test('keeps the slot of its group until it is killed', async () => {
    const { spins, where } = defineJobs(jobs, kind)
    for (const job of [spins!, where!]) job.group('ada', { concurrency: 1 })
    const runs = await spins!.timeout('500ms').dispatchMany([1, 2])
    const other = await spins!.dispatch(3, { group: 'bob' })
    const seen: string[] = []
    jobs.on('job:started', ({ id }) => seen.push(`start ${id}`))
    jobs.on('job:dead', ({ id }) => seen.push(`end ${id}`))
    await jobs.run({ concurrency: 3 })
    const [first, second] = runs.map(({ id }) => id)
    expect(seen.filter((line) => !line.includes(other.id))).toEqual([
      `start ${first}`,
      `end ${first}`,
      `start ${second}`,
      `end ${second}`,
    ])
    expect(seen.indexOf(`start ${other.id}`)).toBeLessThan(seen.indexOf(`end ${first}`))
  })
})
