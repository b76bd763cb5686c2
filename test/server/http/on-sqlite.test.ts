import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from 'treadle/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import type { WholeBackend } from '../../../src/queue/contract/contract.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { until } from '../../world.ts'
import { serving } from './serving.ts'

async function onFile() {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-http-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const clock = new ManualClock()
  const backend = (await openSqlite({ path: join(folder, 'jobs.db'), clock, logger: silentLogger })) as unknown as WholeBackend
  return serving({ on: { backend, clock }, jobs: { signingKey: 'a secret of 16 bytes or more' } })
}

test('a job in a file is made, changed, taken, tried again, ended, and looked at', async () => {
  const { client, clock, api } = await onFile()
  const { id } = await client.jobs.create(
    { job: 'report', payload: { n: 1 }, delay: '1h', maxRetries: 1 },
    { idempotencyKey: 'k' },
  )
  expect(
    await client.jobs.create({ job: 'report', payload: { n: 1 }, delay: '1h', maxRetries: 1 }, { idempotencyKey: 'k' }),
  ).toEqual({
    id,
    created: false,
  })
  const runAt = new Date(clock.now() + 5_000).toISOString()
  expect(await client.jobs.change(id, { runAt, priority: 7, payload: { n: 2 } })).toMatchObject({ runAt, priority: 7 })
  const taking = client.leases.take({ jobs: ['rep*'], wait: '20s', lease: '10s' })
  await until(() => api.waiting === 1)
  await clock.advance(5_000)
  const [lease] = await taking
  expect(lease).toMatchObject({ id, payload: { n: 2 } })
  const token = lease?.token ?? ''
  await client.leases.progress(id, token, 0.5)
  expect(await client.leases.extend({ leases: [{ id, token }], lease: '1m' })).toEqual(['held'])
  expect(await client.leases.settle(id, { token, outcome: 'fail', delay: 0, error: { message: 'no' } })).toBe('retried')
  await expect(client.leases.settle(id, { token, outcome: 'done' })).rejects.toMatchObject({ code: 'LEASE_LOST' })
  const [again] = await client.leases.take({ jobs: ['report'] })
  expect(await client.leases.settle(id, { token: again?.token ?? '', outcome: 'done', result: 'ok' })).toBe('done')
  expect(await client.jobs.get(id)).toMatchObject({ state: 'succeeded', result: 'ok', errors: [{ message: 'no' }] })
  await client.jobs.delete(id)
  await expect(client.jobs.get(id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('a file has pages, counts, dead jobs and jobs that repeat', async () => {
  const { client, clock } = await onFile()
  const made = await client.jobs.createMany(Array.from({ length: 5 }, (_, n) => ({ job: 'a', payload: n, queue: 'mail' })))
  const ids: string[] = []
  for await (const { id } of client.jobs.all({ queue: 'mail', limit: 2 })) ids.push(id)
  expect(ids).toEqual(made.map(({ id }) => id).toReversed())
  expect(await client.queues.list()).toMatchObject([{ queue: 'mail', counts: { ready: 5 } }])
  const taken = await client.leases.take({ jobs: ['a'], limit: 5 })
  const error = { message: 'no' }
  await client.leases.settleMany(taken.map(({ id, token }) => ({ id, token, outcome: 'dead', error })))
  expect(await client.dead.replayMany({ job: 'a', limit: 2 })).toMatchObject({ replayed: 2, more: true })
  expect(await client.dead.purge({ all: true })).toEqual({ deleted: 3, more: false })
  const { id } = await client.jobs.create({ job: 'tidy', repeat: 'FINISHED, +1 HOUR' })
  const [lease] = await client.leases.take({ jobs: ['tidy'] })
  await client.leases.settle(id, { token: lease?.token ?? '', outcome: 'done' })
  expect(await client.jobs.get(id)).toMatchObject({ state: 'scheduled', runAt: new Date(clock.now() + 3_600_000).toISOString() })
})
