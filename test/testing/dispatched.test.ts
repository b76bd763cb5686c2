import { type Treadle, treadle } from 'treadle'
import { assertDispatched, assertNotDispatched, dispatched, drain, ManualClock } from 'treadle/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

interface Mail {
  readonly to: string
}

let clock: ManualClock
let jobs: Treadle

beforeEach(() => {
  clock = new ManualClock()
  jobs = treadle('memory:', { clock })
})

afterEach(() => jobs.close())

function defineMail() {
  return jobs.define('send-email', (mail: Mail) => mail.to.length).queue('mail')
}

describe('what was dispatched', () => {
  test('is listed in order, with its payload opened, whether it ran or not', async () => {
    const sendEmail = defineMail()
    await sendEmail.dispatch({ to: 'ada' })
    await drain(jobs)
    await sendEmail.delay('1h').dispatch({ to: 'grace' })
    expect(await dispatched(jobs, sendEmail)).toMatchObject([
      { payload: { to: 'ada' }, state: 'succeeded', result: 3, queue: 'mail' },
      { payload: { to: 'grace' }, state: 'scheduled', result: null, runAt: clock.now() + 3_600_000 },
    ])
  })

  test('is that of all jobs where none is named, and beyond one page', async () => {
    const other = jobs.define('other', (_: number) => {})
    await defineMail().dispatch({ to: 'ada' })
    await other.dispatchMany(Array.from({ length: 1_200 }, (_, index) => index))
    const all = await dispatched(jobs)
    expect(all).toHaveLength(1_201)
    expect([all[0]?.job, all[1]?.payload, all.at(-1)?.payload]).toEqual(['send-email', 0, 1_199])
    expect(await dispatched(jobs, 'other')).toHaveLength(1_200)
  })

  test('leaves out what a schedule put into the queue', async () => {
    jobs.define('hourly', () => {}).hourly()
    await drain(jobs, { clock, for: '1d' })
    expect(await dispatched(jobs)).toEqual([])
  })
})

describe('a class', () => {
  class SendReport {
    handle({ month }: { month: number }) {
      return month
    }
  }

  test('is the job that it handles, under whatever key', async () => {
    const sendEmail = defineMail()
    await sendEmail.dispatch({ to: 'ada' })
    await assertNotDispatched(jobs, SendReport)
    await expect(assertDispatched(jobs, SendReport)).rejects.toThrow('"SendReport" was not dispatched')
    jobs.define('reports/monthly', SendReport)
    await jobs.dispatch(SendReport, { month: 5 })
    await assertDispatched(jobs, SendReport, ({ month }) => month === 5)
    expect(await dispatched(jobs, SendReport)).toMatchObject([{ job: 'reports/monthly' }])
    await assertDispatched(jobs, sendEmail.toDefinition(), ({ to }) => to === 'ada')
    jobs.define('reports/yearly', SendReport)
    await expect(dispatched(jobs, SendReport)).rejects.toThrow('several jobs (reports/monthly, reports/yearly)')
  })

  test('or a definition is named, and anything else is refused', async () => {
    await expect(dispatched(jobs, {} as never)).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    await expect(dispatched(jobs, (() => {}) as never)).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
  })
})

describe('an assertion that a job was dispatched', () => {
  test('gives the jobs that fit', async () => {
    const sendEmail = defineMail()
    await sendEmail.dispatchMany([{ to: 'ada' }, { to: 'grace' }, { to: 'ada' }])
    const found = await assertDispatched(jobs, sendEmail, (mail) => mail.to === 'ada')
    expect(found).toHaveLength(2)
    await assertDispatched(jobs, 'send-email', (_, { queue }) => queue === 'mail')
  })

  test('fails with a list of what was dispatched instead', async () => {
    const sendEmail = defineMail()
    jobs.define('other', () => {})
    await jobs.dispatch('other', { n: 1 })
    await expect(assertDispatched(jobs, sendEmail)).rejects.toThrow(
      '"send-email" was not dispatched.\nDispatched:\n  other {"n":1} (ready)',
    )
    await sendEmail.dispatch({ to: 'ada' })
    await expect(assertDispatched(jobs, sendEmail, ({ to }) => to === 'grace')).rejects.toThrow(
      '"send-email" was not dispatched with such a payload.\nDispatched:\n  other {"n":1} (ready)\n  send-email {"to":"ada"} (ready)',
    )
  })

  test('says so when nothing was dispatched at all', async () => {
    defineMail()
    await expect(assertDispatched(jobs, 'send-email')).rejects.toThrow('Nothing was dispatched.')
  })
})

describe('an assertion that a job was not dispatched', () => {
  test('holds while no such job was', async () => {
    const sendEmail = defineMail()
    await assertNotDispatched(jobs, sendEmail)
    await sendEmail.dispatch({ to: 'ada' })
    await assertNotDispatched(jobs, sendEmail, ({ to }) => to === 'grace')
  })

  test('fails with the jobs that were', async () => {
    const sendEmail = defineMail()
    await sendEmail.dispatch({ to: 'ada' })
    await expect(assertNotDispatched(jobs, sendEmail)).rejects.toThrow(
      '"send-email" was dispatched, and should not have been.\nDispatched:\n  send-email {"to":"ada"} (ready)',
    )
  })
})
