import { describe, expect, it, onTestFinished } from 'vitest'
import { treadle } from '../../src/app/treadle.ts'
import type { JobContext } from '../../src/definition/context.ts'
import { scratchFolder } from '../processes/database.ts'
import { loggerInto, world } from '../world.ts'

/** An error that nobody handles ends the process, and with it all other jobs of a worker. */
function unhandled(): unknown[] {
  const seen: unknown[] = []
  const onUnhandled = (thrown: unknown) => void seen.push(thrown)
  process.on('unhandledRejection', onUnhandled)
  onTestFinished(() => void process.off('unhandledRejection', onUnhandled))
  return seen
}

/** Node reports an error that nobody handled after the current turn. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('a handler that returns without waiting for a call of its context', () => {
  it('has its child, and ends with it', async () => {
    const thrown = unhandled()
    const { jobs, record } = world()
    const child = jobs.define('child', async (n: number) => n)
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      void ctx.dispatchChild(child, 1)
      void ctx.dispatchChild(child, 2)
    })
    const run = await parent.dispatch()
    expect(await jobs.run()).toMatchObject({ succeeded: 2 })
    await nextTurn()
    expect(await record(run)).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(await run.tree()).toMatchObject({ total: 3, done: 1 })
    expect(thrown).toEqual([])
  })

  it('fails its attempt if the call fails', async () => {
    const thrown = unhandled()
    const { jobs, backend, record } = world()
    const send = backend.send.bind(backend)
    const child = jobs.define('child', async () => {})
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      backend.send = () => Promise.reject(new Error('not today'))
      void ctx.dispatchChild(child)
    })
    const run = await parent.dispatch()
    await jobs.run()
    backend.send = send
    await nextTurn()
    expect(await record(run)).toMatchObject({ state: 'dead', errors: [{ message: 'not today' }] })
    expect(thrown).toEqual([])
  })

  it('fails its attempt if the call fails while it is still running, unless it waits for the call later', async () => {
    const thrown = unhandled()
    const { jobs, record } = world()
    const child = jobs.define('child', async (_: string) => {})
    const tooLarge = 'x'.repeat(2_000_000)
    const forgetful = jobs.define('forgetful', async (_: unknown, ctx) => {
      void ctx.dispatchChild(child, tooLarge)
      await nextTurn()
    })
    const late = jobs.define('late', async (_: unknown, ctx) => {
      const calls = [ctx.dispatchChild(child, tooLarge), ctx.dispatchChild(child, tooLarge)]
      await nextTurn()
      return (await Promise.allSettled(calls)).map(({ status }) => status)
    })
    const [forgotten, noticed] = [await forgetful.dispatch(), await late.dispatch()]
    await jobs.run()
    await nextTurn()
    expect(await record(forgotten)).toMatchObject({ state: 'dead', errors: [{ code: 'PAYLOAD_TOO_LARGE' }] })
    expect(await record(noticed)).toMatchObject({ state: 'succeeded', result: '["rejected","rejected"]' })
    expect(thrown).toEqual([])
  })

  it('waits for its children and runs again if it has asked for them', async () => {
    const thrown = unhandled()
    const { jobs, record } = world()
    const child = jobs.define('child', async () => {})
    let runs = 0
    const parent = jobs.define('parent', async (_: unknown, ctx) => {
      runs++
      await ctx.dispatchChild(child)
      void ctx.children()
    })
    const run = await parent.dispatch()
    await jobs.run()
    await nextTurn()
    expect([runs, (await record(run)).state, thrown]).toEqual([2, 'succeeded', []])
  })

  it('does not end its process if the attempt has failed anyway, or a hook made the call', async () => {
    const thrown = unhandled()
    const { jobs, log, record } = world()
    const child = jobs.define('child', async () => {})
    const failing = jobs.define('failing', async (_: unknown, ctx: JobContext) => {
      void ctx.dispatchChild(child)
      throw new Error('no')
    })
    const hooked = jobs
      .define('hooked', async () => 1)
      .onSuccess((_result, _payload, ctx) => {
        void ctx.dispatchChild(child)
      })
    const [failed, done] = [await failing.dispatch(), await hooked.dispatch()]
    await jobs.run()
    await nextTurn()
    expect(await record(failed)).toMatchObject({ state: 'dead', errors: [{ message: 'no' }] })
    expect(await record(done)).toMatchObject({ state: 'succeeded' })
    expect(thrown).toEqual([])
    expect(log.join('\n')).toContain('a call of its context failed after it had ended')
  })

  it('ends with the writes of its transaction, or fails with it', async () => {
    const thrown = unhandled()
    const folder = scratchFolder()
    const jobs = treadle(`sqlite:${folder.file('jobs.db')}`, { unsigned: true, logger: loggerInto([]) })
    onTestFinished(async () => {
      await jobs.close()
      folder.remove()
    })
    const write = jobs
      .define('write', async (table: string, ctx) => {
        void ctx.transaction((tx) => {
          tx.run('CREATE TABLE IF NOT EXISTS written (n INTEGER)')
          tx.run(`INSERT INTO ${table} VALUES (1)`)
          return tx.get('SELECT count(*) AS count FROM written')
        })
        return 'not the result'
      })
      .delivery('effectively-once')
    const written = await write.dispatch('written')
    const refused = await write.dispatch('nowhere')
    expect(await jobs.run()).toMatchObject({ succeeded: 1, dead: 1 })
    await nextTurn()
    expect(await written.result()).toEqual({ count: 1 })
    const record = await (await jobs.store()).get(refused.id)
    expect(record?.errors).toMatchObject([{ message: expect.stringContaining('no such table') }])
    expect(thrown).toEqual([])
  })
})
