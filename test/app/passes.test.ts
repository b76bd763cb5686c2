import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { treadle } from 'treadle'
import { ManualClock } from 'treadle/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'treadle-passes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(['memory:', `sqlite:${join(folder, 'jobs.db')}`])('a pass over %s', (url) => {
  it('does not end before a job of its own that is due behind thousands of others', async () => {
    const clock = new ManualClock()
    await using jobs = treadle(url, { clock, unsigned: true })
    const others = jobs.declare('elsewhere')
    const own = jobs.define('own', async () => {})
    await others.dispatchMany(new Array(2_500).fill(0), { delay: '1s' })
    await own.delay('2s').dispatch()
    await clock.advance(3_000)
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
  })

  it('is ended by a stop() that comes right after it', async () => {
    await using jobs = treadle(url, { unsigned: true })
    const started: string[] = []
    jobs.define('wait', async (_: unknown, { signal }) => {
      started.push('wait')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    const passing = jobs.run({ jobs: ['wait'] })
    await jobs.stop()
    expect(await passing).toMatchObject({ succeeded: 0 })
    expect(started).toEqual([])
  })

  it('forgets idempotency keys whose time is over, however many', async () => {
    const clock = new ManualClock()
    await using jobs = treadle(url, { clock, unsigned: true })
    const once = jobs
      .define('once', async (_: number) => {})
      .idempotencyKey((n) => `${n}`)
      .idempotencyTtl('1s')
    await once.dispatchMany(Array.from({ length: 1_100 }, (_, n) => n))
    await jobs.run({ jobs: ['once'] })
    await clock.advance(2_000)
    await jobs.prune()
    const backend = await jobs.open()
    expect((await backend.store?.sweep({ part: 'keys', limit: 10_000 }))?.changed).toBe(0)
  })
})

describe('a bulk dispatch with a schema', () => {
  it('is one refusal also when one payload fails its schema and another is not JSON', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    await using jobs = treadle('memory:')
    const job = jobs.define('count', { input: z.object({ n: z.number() }) }, async () => {})
    await expect(job.dispatchMany([{ n: 'wrong' }, { n: 1n }] as never)).rejects.toMatchObject({ name: 'TreadleError' })
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})
