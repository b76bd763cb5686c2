import { describe, expect, it } from 'vitest'
import { world } from '../world.ts'

describe('Z2, X26: a function that is given with a dispatch', () => {
  it('is the one that is called, each time', async () => {
    const { jobs } = world()
    const runs = [
      await jobs.dispatch('process-upload', () => 'the first'),
      await jobs.dispatch('process-upload', async () => 'the second'),
      await jobs.dispatch('process-upload', (_, ctx) => ctx.job, { queue: 'slow' }),
    ]
    await jobs.run()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(['the first', 'the second', 'process-upload'])
  })

  it('is called for the retries of its job too', async () => {
    const { jobs, clock } = world()
    let calls = 0
    const run = await jobs.dispatch(
      'process-upload',
      () => {
        calls++
        if (calls < 3) throw new Error('not yet')
        return calls
      },
      { retries: 2 },
    )
    const working = jobs.run()
    await working
    await clock.advance(60_000)
    await jobs.run()
    await clock.advance(60_000)
    await jobs.run()
    expect(await run.result()).toBe(3)
  })

  it('is forgotten when its job has ended, and its name with it', async () => {
    const { jobs } = world()
    await jobs.dispatch('process-upload', () => 1)
    expect(jobs.has('process-upload')).toBe(true)
    await jobs.run()
    expect(jobs.has('process-upload')).toBe(false)
    jobs.define('process-upload', () => 'a definition')
    const run = await jobs.dispatch('process-upload')
    await jobs.run()
    expect(await run.result()).toBe('a definition')
  })

  it('is forgotten when its job is cancelled before it runs', async () => {
    const { jobs } = world()
    const run = await jobs.dispatch('process-upload', () => 1)
    await run.cancel()
    expect(jobs.has('process-upload')).toBe(false)
  })

  it('goes by the settings of a job of that name, and leaves its handler as it is', async () => {
    const { jobs, record } = world()
    jobs.define('upload', () => 'the handler').queue('files')
    const given = await jobs.dispatch('upload', () => 'the function')
    const usual = await jobs.dispatch('upload')
    expect((await record(given)).queue).toBe('files')
    await jobs.run()
    expect([await given.result(), await usual.result()]).toEqual(['the function', 'the handler'])
    expect(jobs.has('upload')).toBe(true)
  })

  it('is not called for a job of the same name from another process: that is left alone', async () => {
    const here = world()
    const there = here.other()
    const theirs = await there.jobs.dispatch('upload', () => 'there')
    const ours = await here.jobs.dispatch('upload', () => 'here')
    await here.jobs.run()
    expect([await ours.result(), await theirs.state()]).toEqual(['here', 'scheduled'])
    await here.clock.advance(5_000)
    await there.jobs.run()
    expect(await theirs.result()).toBe('there')
  })

  it('is forgotten at once where its dispatch is refused, or finds another job in its place', async () => {
    const { jobs } = world()
    await expect(jobs.dispatch('upload', () => 1, { queue: 'two words' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(jobs.has('upload')).toBe(false)
    const first = await jobs.dispatch('upload', () => 'first', { unique: 'one' })
    const second = await jobs.dispatch('upload', () => 'second', { unique: 'one' })
    expect([second.created, second.id]).toEqual([false, first.id])
    await jobs.run()
    expect(await first.result()).toBe('first')
    expect(jobs.has('upload')).toBe(false)
  })

  it('cannot change a job that holds its unique key', async () => {
    const { jobs } = world()
    const options = { unique: { key: 'one', onConflict: 'replace' } } as const
    await expect(jobs.dispatch('upload', () => 1, options)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})
