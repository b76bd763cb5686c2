import { describe, expect, test } from 'vitest'
import { treadleClient } from '../../../src/client/http/http-client.ts'
import { serving } from './serving.ts'

describe('stored schedules over HTTP', () => {
  test('are made, looked at, changed, paused, run and deleted', async () => {
    const { client, jobs } = await serving()
    const runs: unknown[] = []
    jobs.define('report', (payload) => void runs.push(payload))
    const { schedules } = client
    const made = await schedules.upsert('acme/report', {
      job: 'report',
      payload: { to: 'acme' },
      cron: '30 2 * * *',
      timezone: 'Europe/Paris',
      misfire: { kind: 'all', within: '2d', cap: 5 },
      overlap: 'queue',
      until: '2030-01-01T00:00:00Z',
    })
    expect(made).toMatchObject({
      name: 'stored:acme/report',
      timezone: 'Europe/Paris',
      paused: false,
      stored: {
        key: 'acme/report',
        job: 'report',
        payload: { to: 'acme' },
        kind: 'cron',
        said: '30 2 * * *',
        misfire: { kind: 'all', withinMs: 172_800_000, cap: 5 },
        overlap: 'queue',
        until: '2030-01-01T00:00:00.000Z',
        state: 'active',
        problem: null,
      },
    })
    expect(made.nextAt).not.toBeNull()
    expect(await schedules.get('acme/report')).toEqual(made)
    expect(await schedules.get('stored:acme/report')).toEqual(made)
    expect(await schedules.upsert('acme/report', { job: 'report', every: '1h' })).toMatchObject({
      stored: { kind: 'every', said: '1h', payload: null, until: null, overlap: 'skip' },
    })
    await schedules.pause('acme/report')
    expect(await schedules.get('acme/report')).toMatchObject({ paused: true, nextAt: null })
    await schedules.resume('acme/report')
    await schedules.runNow('acme/report')
    await jobs.run()
    expect(runs.length).toBeGreaterThanOrEqual(1)
    expect((await schedules.next('acme/report', 3)).runs).toHaveLength(3)
    await schedules.delete('acme/report')
    await expect(schedules.get('acme/report')).rejects.toMatchObject({ problem: { status: 404 } })
    await expect(schedules.delete('acme/report')).rejects.toMatchObject({ problem: { status: 404 } })
  })

  test('are listed by what their keys begin with, beside those of the code', async () => {
    const { client, jobs } = await serving()
    jobs.define('hourly', () => null).hourly()
    jobs.define('report', () => null)
    for (const key of ['acme/a', 'acme/b', 'bolt/a']) await client.schedules.upsert(key, { job: 'report', every: '1h' })
    const names = async (...filter: Parameters<typeof client.schedules.list>) =>
      (await client.schedules.list(...filter)).map(({ name }) => name)
    expect(await names()).toEqual(['hourly', 'stored:acme/a', 'stored:acme/b', 'stored:bolt/a'])
    expect(await names({ prefix: 'acme/' })).toEqual(['stored:acme/a', 'stored:acme/b'])
    expect(await names({ stored: false })).toEqual(['hourly'])
    expect(await client.schedules.get('hourly')).toMatchObject({ name: 'hourly', stored: null })
  })

  test('that are not sound, or have the name of one of the code, are refused', async () => {
    const { client, jobs } = await serving()
    jobs.define('hourly', () => null).hourly()
    const { schedules } = client
    await expect(schedules.upsert('a', { job: 'report' })).rejects.toMatchObject({ problem: { status: 400 } })
    await expect(schedules.upsert('a', { job: 'report', cron: 'never' })).rejects.toMatchObject({ problem: { status: 400 } })
    await expect(schedules.upsert('a', { job: 'report', evry: '1h' } as never)).rejects.toMatchObject({
      problem: { status: 400 },
    })
    await expect(schedules.upsert('hourly', { job: 'report', every: '1h' })).rejects.toThrow(/schedule of the code/)
    await expect(schedules.delete('hourly')).rejects.toMatchObject({ problem: { status: 404 } })
  })

  test('are for those who may operate, and a limited token sees and changes those of its own jobs alone', async () => {
    const tokens = [
      { role: 'read', secret: 'looker' },
      { role: 'work', secret: 'worker' },
      { role: 'operate', secret: 'operator', jobs: ['mail-*'] },
      { role: 'admin', secret: 'admin' },
    ] as const
    const { url, jobs } = await serving({ tokens })
    jobs.define('mail-digest', () => null)
    jobs.define('refund', () => null)
    const as = (token: string) => treadleClient({ url, token }).schedules
    await as('admin').upsert('refunds', { job: 'refund', every: '1h' })
    for (const token of ['looker', 'worker']) {
      await expect(as(token).upsert('a', { job: 'mail-digest', every: '1h' })).rejects.toMatchObject({ problem: { status: 403 } })
      await expect(as(token).delete('refunds')).rejects.toMatchObject({ problem: { status: 403 } })
      expect(await as(token).list()).toHaveLength(1)
    }
    const limited = as('operator')
    await limited.upsert('mine', { job: 'mail-digest', every: '1h' })
    expect((await limited.list()).map(({ name }) => name)).toEqual(['stored:mine'])
    await expect(limited.upsert('other', { job: 'refund', every: '1h' })).rejects.toMatchObject({ problem: { status: 403 } })
    await expect(limited.upsert('refunds', { job: 'mail-digest', every: '1h' })).rejects.toMatchObject({
      problem: { status: 403 },
    })
    for (const act of ['get', 'pause', 'resume', 'delete', 'runNow', 'next'] as const)
      await expect(limited[act]('refunds'), act).rejects.toMatchObject({ problem: { status: 404 } })
    expect(await as('admin').get('refunds')).toMatchObject({ paused: false, stored: { job: 'refund' } })
  })
})
