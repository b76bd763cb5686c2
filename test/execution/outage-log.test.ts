import { describe, expect, it, vi } from 'vitest'
import type { TreadleOptions } from '../../src/app/treadle.ts'
import { RepeatedErrors } from '../../src/core/repeated-errors.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { loggerInto, type World, world } from '../world.ts'
import { store } from './stored.ts'

const minute = 60_000
const gone = () => Promise.reject(new Error('the disk is gone'))

interface Question {
  readonly what: string
  readonly options?: TreadleOptions
  readonly ask: (all: World) => Promise<unknown>
}

/** What is asked before a handler is called; each job that could not ask is put off by a second. */
const questions: readonly Question[] = [
  {
    what: 'the start of a job that must not start twice',
    ask: async ({ jobs, backend }) => {
      vi.spyOn(backend, 'begin').mockImplementation(gone)
      const job = jobs.define('mail', async () => {}).delivery('at-most-once')
      await job.dispatchMany([undefined, undefined, undefined])
    },
  },
  {
    what: 'an idempotency key',
    ask: async ({ jobs, backend }) => {
      vi.spyOn(backend.coordination, 'claimOnce').mockImplementation(gone)
      const job = jobs.define('charge', async (_: number) => {}).idempotencyKey((order) => `order:${order}`)
      await job.dispatchMany([1, 2, 3])
    },
  },
  {
    what: 'the other runs of a schedule',
    ask: async (all) => {
      vi.spyOn(all.backend.store.schedules, 'neighbours').mockImplementation(gone)
      const job = (name: string) =>
        all.jobs
          .define(name, async () => {})
          .everyMinute()
          .overlap('skip')
      const now = all.clock.now()
      for (const name of ['report', 'export', 'backup']) await store(all, job(name), now)
    },
  },
  {
    what: 'the jobs that a job has waited for',
    ask: async ({ jobs, backend }) => {
      vi.spyOn(backend.store, 'links').mockImplementation(gone)
      const step = jobs.define('step', async () => {})
      for (let chain = 1; chain <= 3; chain++) await jobs.chain([step.step(), step.step()])
    },
    options: { signingKey: 'k1:a secret of the tests alone' },
  },
]

describe('an outage before handlers are called', () => {
  it.each(questions)('is logged once a minute, not for each job and attempt: $what', async ({ ask, options }) => {
    const all = world(options)
    await ask(all)
    const working = all.jobs.work({ signals: false, scheduler: false, poll: '1s' })
    await all.clock.advance(minute - 5_000)
    expect(all.log).toEqual([expect.stringMatching(/ could not be .*: the disk is gone; trying again$/)])
    await all.clock.advance(10_000)
    expect(all.log.slice(1)).toEqual([expect.stringMatching(/the disk is gone \(\d+ more times since .*\); trying again$/)])
    await all.jobs.stop()
    await working
  })
})

describe('an error that repeats', () => {
  it('is logged once, whichever call it fails, and again after the outage has ended', () => {
    const lines: string[] = []
    const errors = new RepeatedErrors(new ManualClock())
    const log = loggerInto(lines)
    errors.tryingAgain(log, new Error('no answer.'))
    errors.tryingAgain(log, new Error('no answer.'), 'the start of job 1 could not be written')
    errors.tryingAgain(log, new Error('no right'), 'the start of job 1 could not be written')
    errors.ended()
    errors.tryingAgain(log, new Error('no answer.'), 'the start of job 2 could not be written')
    expect(lines).toEqual([
      'error no answer; trying again',
      'error the start of job 1 could not be written: no right; trying again',
      'error the start of job 2 could not be written: no answer; trying again',
    ])
  })
})
