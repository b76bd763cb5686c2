import { describe, expect, it } from 'vitest'
import type { TreadleError } from '../../src/core/errors.ts'
import { world } from '../world.ts'

describe('unique keys in workflows', () => {
  it('let a job that is there stand for a first step, and those behind it wait for that job', async () => {
    const { jobs } = world()
    const load = jobs.define('load', (name: string) => name).unique('all')
    const show = jobs.define('show', async (_: unknown, ctx) => (await ctx.dependencies())[0]?.result)
    const there = await load.dispatch('there')
    const flow = await jobs.chain([load.step('mine'), show.step()])
    expect(flow.runs[0]).toMatchObject({ id: there.id, created: false })
    await jobs.run()
    expect(await flow.result()).toBe('there')
  })

  it('are refused of a step that waits: the job that holds the key would run before those that come first', async () => {
    const { jobs, backend } = world()
    const slow = jobs.define('slow', () => {})
    const keyed = jobs.define('keyed', () => {}).unique(() => 'key')
    const other = jobs.define('other', () => {}).throttle('1m')
    const refusal = 'it waits for others, and a job that holds its unique key would run in its place without that'
    await expect(jobs.chain([slow.step(), keyed.step(), slow.step()])).rejects.toThrow(refusal)
    await expect(jobs.batch([slow.step()], { onComplete: other.step() })).rejects.toThrow(refusal)
    await expect(jobs.chain([keyed.step(null, { dependsOn: 'x' })])).rejects.toThrow(refusal)
    expect(await backend.store.list({ limit: 1 })).toEqual([])
    const flow = await jobs.chain([keyed.step(), keyed.step(null, { unique: null }), slow.step()])
    expect(flow.runs.map(({ created }) => created)).toEqual([true, true, true])
  })

  it('are refused of a step or a child that would change the job which holds it', async () => {
    const { jobs } = world()
    const last = jobs.define('last', (name: string) => name).debounce('1m')
    const merged = jobs.define('merged', () => {}).unique('k', { onConflict: 'merge' })
    const parent = jobs.define('parent', (_: unknown, ctx) => ctx.dispatchChild(last, 'child'))
    await expect(jobs.chain([last.step('step')])).rejects.toThrow(
      'a step cannot change the job that holds its unique key. Give it no key: { unique: null }',
    )
    await expect(jobs.batch([merged.step()])).rejects.toThrow('a step cannot change')
    const run = await parent.dispatch()
    await jobs.run()
    await expect(run.result()).rejects.toThrow('a child cannot change the job that holds its unique key')
  })

  it('are refused of a dispatch that waits for others and would change the job which holds it', async () => {
    const { jobs } = world()
    const job = jobs.define('job', () => {}).unique('k', { onConflict: 'replace' })
    const quiet = jobs.define('quiet', () => {}).debounce('1s')
    await expect(job.dispatch(null, { dependsOn: 'x' })).rejects.toThrow('give no dependsOn, or no onConflict replace')
    await expect(quiet.dispatch(null, { dependsOn: 'x' })).rejects.toThrow('give no dependsOn, or no debounce')
    const waiting = await job.dispatch(null, { dependsOn: 'x', unique: { key: 'k', onConflict: 'ignore' } })
    expect(waiting.created).toBe(true)
  })
})

describe('children that would wait for their own parents', () => {
  const links: Record<string, readonly string[]> = { home: ['news', 'home'], news: ['home', 'more'], more: ['home'] }

  it('are refused by name, and may be left out', async () => {
    const { jobs } = world()
    const refused: string[] = []
    const crawl = jobs
      .define('crawl', async (page: string, ctx): Promise<number> => {
        for (const link of links[page] ?? []) {
          await ctx.dispatchChild(crawl, link, { key: link }).catch((error: TreadleError) => {
            if (error.code !== 'WORKFLOW_CIRCULAR') throw error
            refused.push(`${page} -> ${link}: ${error.message}`)
          })
        }
        return (await ctx.children()).length
      })
      .unique((page) => page)
    const run = await crawl.dispatch('home')
    await jobs.run()
    expect([await run.state(), await run.result()]).toEqual(['succeeded', 1])
    expect(new Set(refused.map((each) => each.split(':')[0]))).toEqual(new Set(['home -> home', 'news -> home', 'more -> home']))
    const holder = refused.find((each) => each.startsWith('more'))
    expect(holder).toContain(`is the job ${run.id}, which waits for this one, so neither would ever end`)
    expect(refused[0]).toContain('is this very job')
  })
})

describe('a dispatch with the unique key null', () => {
  it('has none, whatever its definition says', async () => {
    const { jobs } = world()
    const job = jobs.define('job', () => {}).unique('k')
    expect([(await job.dispatch()).created, (await job.dispatch()).created]).toEqual([true, false])
    expect((await job.dispatch(null, { unique: null })).created).toBe(true)
    await expect(job.dispatch(null, { unique: null, debounce: '1s' })).rejects.toThrow('give one of them')
  })
})
