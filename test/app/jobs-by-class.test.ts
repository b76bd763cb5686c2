import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadJobFiles } from '../../src/app/loading/job-files.ts'
import { world } from '../world.ts'

class SendReport {
  handle(report: { month: number }) {
    return `report ${report.month}`
  }
}

/** Another class of the same name, as from another module. */
const Other = {
  SendReport: class SendReport {
    handle() {
      return 'something else'
    }
  },
}

describe('Z1: a job that is named by its class', () => {
  it('is the definition that was made of that very class, with all its settings and whatever key', async () => {
    const { jobs, record } = world()
    jobs.define('monthly-report', SendReport).queue('reports').retries(4).priority('high')
    const run = await jobs.dispatch(SendReport, { month: 5 })
    expect(await record(run)).toMatchObject({ job: 'monthly-report', queue: 'reports', maxRetries: 4, priority: 10 })
    await jobs.run()
    expect(await run.result()).toBe('report 5')
  })

  it('gives its name to a schedule that is created at run time', async () => {
    const { jobs } = world()
    jobs.define('monthly-report', SendReport)
    const made = await jobs.schedules.upsert('acme', { job: SendReport, payload: { month: 5 }, cron: '@monthly' })
    expect(made).toMatchObject({ job: 'monthly-report', payload: { month: 5 }, state: 'active' })
    // @ts-expect-error: the class takes a month
    await jobs.schedules.upsert('acme', { job: SendReport, payload: { year: 5 }, cron: '@monthly' })
    jobs.define('yearly-report', SendReport)
    const unclear = jobs.schedules.upsert('acme', { job: SendReport, payload: { month: 5 }, cron: '@yearly' })
    await expect(unclear).rejects.toThrow('Class SendReport handles several jobs (monthly-report, yearly-report)')
  })

  it('J11: needs no definition', async () => {
    const { jobs } = world()
    const run = await jobs.dispatch(SendReport, { month: 6 })
    await jobs.run()
    expect([run.job, await run.result()]).toEqual(['SendReport', 'report 6'])
    expect((await jobs.dispatchMany(SendReport, [{ month: 7 }])).map(({ job }) => job)).toEqual(['SendReport'])
  })

  it('is never run as another class of the same name', async () => {
    const { jobs } = world()
    await jobs.dispatch(SendReport, { month: 6 })
    await expect(jobs.dispatch(Other.SendReport)).rejects.toMatchObject({
      code: 'JOB_DUPLICATE',
      message: expect.stringContaining('static jobName'),
    })
  })

  it('nor as a function that has its name as the key', async () => {
    const { jobs } = world()
    jobs.define('SendReport', () => 'a function')
    await expect(jobs.dispatch(SendReport, { month: 1 })).rejects.toMatchObject({ code: 'JOB_DUPLICATE' })
  })

  it('has its static jobName as the key', async () => {
    const { jobs } = world()
    class Welcome {
      static jobName = 'mail/welcome'
      handle() {
        return 'hello'
      }
    }
    const run = await jobs.dispatch(Welcome)
    await jobs.run()
    expect([run.job, await run.result()]).toEqual(['mail/welcome', 'hello'])
    const other = world()
    expect(other.jobs.define(Welcome).retries(2).toDefinition()).toMatchObject({ job: 'mail/welcome', maxRetries: 2 })
  })

  it.each([
    [
      'is a number',
      class {
        static jobName = 7
        handle() {}
      },
      'HANDLER_INVALID',
    ],
    ['has no handle', class Nothing {}, 'JOB_UNKNOWN'],
  ])('is refused where its jobName or the class %s', async (_, Class, code) => {
    await expect(world().jobs.dispatch(Class as never)).rejects.toMatchObject({ code })
  })

  it('Z3: must be named by the key where the class handles several jobs', async () => {
    const { jobs } = world()
    jobs.define('may', SendReport).args({ month: 5 })
    jobs.define('june', SendReport).args({ month: 6 })
    await expect(jobs.dispatch(SendReport, { month: 5 })).rejects.toMatchObject({
      code: 'JOB_UNKNOWN',
      message: expect.stringContaining('may, june'),
    })
    const runs = [await jobs.dispatch('may'), await jobs.dispatch('june')]
    await jobs.run()
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(['report 5', 'report 6'])
  })

  it('has the same key in a job file as in the program', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'jobs-'))
    mkdirSync(join(folder, 'jobs'))
    const write = (name: string, text: string) => writeFileSync(join(folder, 'jobs', name), text, { mode: 0o600 })
    write('send-report.mjs', 'export default class SendReport { handle() { return "from the file" } }')
    write('named.mjs', 'export default class { static jobName = "by-name"; handle() {} }')
    write('nameless.mjs', 'export default class { handle() {} }')
    write('greet.mjs', 'export default async () => {}')
    const { jobs } = world()
    await loadJobFiles(jobs, [join(folder, 'jobs')])
    expect(
      jobs
        .definitions()
        .map(({ job }) => job)
        .toSorted(),
    ).toEqual(['SendReport', 'by-name', 'greet', 'nameless'])
  })
})
