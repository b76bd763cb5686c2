import { describe, expect, it } from 'vitest'
import { jobJson } from '../../src/cli/output/jobs/jobs.ts'
import { world } from '../world.ts'

const signingKey = { id: 'k1', secret: 'correct horse battery staple' }
const shown = { encrypted: true, kid: 'k1' }

describe('payloads that are encrypted', () => {
  it('are read by handlers alone, where the definition, the dispatch or the instance asks for it', async () => {
    const plain = world({ signingKey })
    const all = plain.other({ signingKey, encrypt: true })
    const seen: unknown[] = []
    const handler = async (text: string) => void seen.push(text)
    const defined = plain.jobs.define('defined', handler).encrypt()
    const bare = plain.jobs.define('bare', handler)
    const runs = [
      await defined.dispatch('secret one'),
      await bare.dispatch('secret two', { encrypt: true }),
      await all.jobs.declare('bare').dispatch('secret three'),
    ]
    const open = [
      await bare.dispatch('open one'),
      await defined.dispatch('open two', { encrypt: false }),
      await all.jobs.declare('defined').encrypt(false).dispatch('open three'),
    ]
    for (const run of runs) {
      const record = await plain.record(run)
      expect(JSON.stringify(record)).not.toContain('secret')
      expect(jobJson(record)).toMatchObject({ payload: shown })
    }
    for (const run of open) expect((await plain.record(run)).payload).toContain('open')
    await plain.jobs.run()
    expect(seen.sort()).toEqual(['open one', 'open three', 'open two', 'secret one', 'secret three', 'secret two'])
  })

  it('stay encrypted when something is merged into them that is not', async () => {
    const { jobs, record } = world({ signingKey })
    const job = jobs.define('job', async (_: object) => {}).unique('k', { onConflict: 'merge' })
    const run = await job.dispatch({ pin: 1234 }, { encrypt: true })
    expect((await job.dispatch({ note: 'hello' })).id).toBe(run.id)
    expect(jobJson(await record(run))).toMatchObject({ payload: shown })
    expect((await record(run)).payload).not.toContain('hello')
  })

  it('make their keys before they are encrypted, and can be merged', async () => {
    const { jobs, record } = world({ signingKey, encrypt: true })
    const seen: unknown[] = []
    const job = jobs
      .define('job', async (payload: { id: number; a?: number; b?: number }) => void seen.push(payload))
      .unique(({ id }) => String(id), { onConflict: 'merge' })
      .idempotencyKey(({ id }) => `once-${id}`)
    const first = await job.dispatch({ id: 7, a: 1 })
    expect((await job.dispatch({ id: 7, b: 2 })).id).toBe(first.id)
    expect(await record(first)).toMatchObject({ uniqueKey: '7', idempotencyKey: 'once-7' })
    await jobs.run()
    expect(seen).toEqual([{ id: 7, a: 1, b: 2 }])
  })

  it('are refused where the worker does not know their key', async () => {
    const sender = world({ signingKey, encrypt: true })
    const run = await sender.jobs.declare('job').dispatch('x')
    const worker = sender.other({ signingKey: { ...signingKey, id: 'k2' } })
    worker.jobs.define('job', async () => {})
    await worker.jobs.run()
    expect(await worker.record(run)).toMatchObject({ state: 'dead', reason: 'rejected' })
  })

  it('have results and progress that are shown as encrypted, and read with the key', async () => {
    const { jobs, record, other } = world({ signingKey, encrypt: true })
    const job = jobs.define('job', async (_: unknown, ctx) => {
      await ctx.progress({ at: 'secret' })
      return { card: 'secret' }
    })
    const run = await job.dispatch('secret')
    await jobs.run()
    const stored = await record(run)
    expect(JSON.stringify(stored)).not.toContain('secret')
    expect(jobJson(stored)).toMatchObject({ payload: shown, result: shown, progress: shown })
    expect([await run.result(), await run.progress()]).toEqual([{ card: 'secret' }, { at: 'secret' }])
    const stranger = other({ signingKey: { ...signingKey, id: 'k2' } }).jobs.handle(run.id)
    await expect(stranger.result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
    await expect(stranger.progress()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
  })

  it('need a key', async () => {
    const { jobs } = world()
    await expect(jobs.declare('job').encrypt().dispatch('x')).rejects.toMatchObject({ code: 'KEY_INVALID' })
  })
})

describe('errors of encrypted jobs', () => {
  const secret = 'the pin is 1234'

  it('are stored encrypted, shown as such, and told to those who have the key', async () => {
    const { jobs, record, happened, backend } = world({ signingKey })
    const failing = jobs
      .define('failing', async () => {
        throw Object.assign(new Error(secret, { cause: new Error(secret) }), { code: secret })
      })
      .encrypt()
      .retries(1)
      .backoff({ strategy: 'none' })
    const after: unknown[] = []
    const next = jobs.define('next', async (_: object, ctx) => void after.push(...(await ctx.dependencies())))
    const run = await failing.dispatch()
    await next.dispatch({}, { dependsOn: [run], onDependencyFailure: 'ignore' })
    await jobs.run()
    const failed = await record(run)
    expect(failed.errors).toHaveLength(2)
    expect(JSON.stringify(await backend.store.list({ limit: 10 }))).not.toContain('1234')
    expect(JSON.stringify(await backend.store.links(run.id))).not.toContain('1234')
    expect(jobJson(failed)).toMatchObject({ errors: [{ attempt: 1, message: 'encrypted (k1)' }, { message: 'encrypted (k1)' }] })
    await expect(run.result()).rejects.toThrow(secret)
    expect(happened.find(({ name }) => name === 'job:dead')?.event).toMatchObject({ error: { message: secret } })
    expect(after).toMatchObject([{ state: 'dead', error: expect.stringContaining(secret) }])
  })

  it('are not quoted by the jobs that failed because of them, which name the job instead', async () => {
    const { jobs, record } = world({ signingKey })
    const failing = jobs.define('failing', async () => {
      throw new Error(secret.repeat(100))
    })
    const run = await failing.encrypt().dispatch()
    const next = await jobs.define('next', async (_: object) => {}).dispatch({}, { dependsOn: [run] })
    await jobs.run()
    const told = `The job "failing" (${run.id}) that it waited for is dead, and its error is encrypted`
    expect((await record(next)).errors).toMatchObject([{ message: told }])
    await expect(next.result()).rejects.toThrow(told)
  })

  it('keep the codes of Treadle itself, and say that they are encrypted to a program without the key', async () => {
    const { jobs, record, other } = world({ signingKey })
    const slow = jobs
      .define('slow', async () => {
        throw Object.assign(new Error(secret), { code: 'TIMEOUT' })
      })
      .encrypt()
      .retries(0)
    const run = await slow.dispatch()
    await jobs.run()
    expect((await record(run)).errors[0]).toMatchObject({ code: 'TIMEOUT' })
    expect(JSON.stringify(await record(run))).not.toContain('1234')
    const stranger = other({ signingKey: { id: 'k2', secret: 'another secret of 16 bytes' } })
    await expect(stranger.jobs.handle(run.id).result()).rejects.toThrow('encrypted (k1)')
  })
})
