import assert from 'node:assert/strict'
import type { Lease, Settlement } from '../../../queue/contract/contract.ts'
import { times } from '../bench.ts'
import { oddName, oddText } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

export const records: Group = {
  title: 'records of jobs',
  needs: ['store'],
  tests: {
    'a waiting job shows everything that was sent': async (bench) => {
      const wanted = {
        name: oddName,
        queue: 'mail',
        priority: 9,
        maxRetries: 7,
        meta: { trace: oddText, deep: [1, { two: null }] },
        idempotencyKey: 'once-1',
        uniqueKey: 'unique-1',
        group: oddText,
        payload: '{"a": 1.50}',
        delayMs: 5_000,
        number: await bench.numbers.reserve(1),
        timeoutMs: 45_000,
        singleInstance: true,
        repeat: 'FINISHED, +1 HOUR',
        occurrence: 1_767_225_600_000,
      }
      const now = bench.clock.now()
      const record = await bench.record(await bench.sendOne(wanted))
      const { id, startedAt, finishedAt, leaseExpiresAt, owner, identity, ...rest } = record
      assert.equal(identity, bench.envelope({ ...wanted, id }).identity)
      assert.deepEqual([typeof id, startedAt, finishedAt, leaseExpiresAt, owner], ['string', null, null, null, null])
      assert.deepEqual(rest, {
        number: wanted.number,
        job: 'work',
        name: oddName,
        queue: 'mail',
        priority: 9,
        state: 'scheduled',
        signature: null,
        payload: '{"a": 1.50}',
        result: null,
        seal: null,
        progress: null,
        meta: wanted.meta,
        tags: [],
        attempts: 0,
        maxRetries: 7,
        timeoutMs: 45_000,
        singleInstance: true,
        repeat: 'FINISHED, +1 HOUR',
        rescues: 0,
        uniqueKey: 'unique-1',
        idempotencyKey: 'once-1',
        schedule: null,
        occurrence: 1_767_225_600_000,
        group: oddText,
        parent: null,
        root: null,
        reason: null,
        errors: [],
        createdAt: now,
        runAt: now + 5_000,
        cancelRequested: false,
      })
    },
    'a due job is ready, and running while it is leased': async (bench) => {
      const id = await bench.sendOne()
      assert.equal((await bench.record(id)).state, 'ready')
      await bench.clock.advance(10)
      const lease = await bench.claimOne({ owner: oddText, leaseMs: 5_000 })
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.attempts, record.owner], ['running', 1, oddText])
      assert.deepEqual([record.startedAt, record.leaseExpiresAt], [bench.clock.now(), lease.expiresAt])
      await bench.backend.extend([lease.token], 60_000)
      assert.equal((await bench.record(id)).leaseExpiresAt, bench.clock.now() + 60_000)
    },
    'a finished job keeps its result as it was written': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      await bench.clock.advance(250)
      await bench.settle(bench.done(lease, { keep: true, result: `{"text": ${JSON.stringify(oddText)}}` }))
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.attempts, record.finishedAt], ['succeeded', 1, bench.clock.now()])
      assert.equal(record.result, `{"text": ${JSON.stringify(oddText)}}`)
      assert.equal(record.leaseExpiresAt, null)
    },
    'a dead job keeps its reason and the history of its errors (X15)': async (bench) => {
      const id = await bench.sendOne()
      const first = await bench.claimOne()
      const firstError = {
        attempt: 1,
        at: bench.clock.now(),
        message: oddText,
        code: 'E_FIRST',
        stack: `Error: x\n  at ${oddText}`,
      }
      await bench.settle({ token: first.token, kind: 'retry', delayMs: 1_000, error: firstError })
      assert.deepEqual((await bench.record(id)).errors, [firstError])
      assert.equal((await bench.record(id)).runAt, bench.clock.now() + 1_000)
      await bench.clock.advance(1_000)
      const second = await bench.claimOne()
      const secondError = { attempt: 2, at: bench.clock.now(), message: 'again' }
      await bench.settle({ token: second.token, kind: 'dead', reason: 'permanent', error: secondError, keep: true })
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.reason, record.attempts], ['dead', 'permanent', 2])
      assert.deepEqual(record.errors, [firstError, secondError])
      assert.equal(record.finishedAt, bench.clock.now())
    },
    'the history keeps the last 20 errors': async (bench) => {
      const id = await bench.sendOne()
      for (let attempt = 1; attempt <= 25; attempt++) await bench.settle(bench.retry(await bench.claimOne()))
      const { errors } = await bench.record(id)
      assert.deepEqual(
        errors.map((error) => error.attempt),
        times(20, (index) => index + 6),
      )
    },
    'a skipped job says why and has no attempt (X3)': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle({ token: (await bench.claimOne()).token, kind: 'skipped', why: oddText, keep: true })
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.reason, record.attempts], ['skipped', oddText, 0])
    },
    'a cancelled job is kept as cancelled': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.cancelled(await bench.claimOne()))
      assert.equal((await bench.record(id)).state, 'cancelled')
    },
    'a job that was given up is dead (poisoned), with an error that says so': async (bench) => {
      const id = await bench.sendOne()
      await bench.claimOne({ leaseMs: 1_000, maxRescues: 0 })
      await bench.clock.advance(1_000)
      await bench.lease({ maxRescues: 0 })
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.reason, record.rescues], ['dead', 'poisoned', 1])
      assert.deepEqual([record.errors.length, record.errors[0]?.attempt], [1, 1])
      assert.ok((record.errors[0]?.message.length ?? 0) > 0)
      assert.equal(record.finishedAt, bench.clock.now())
    },
    'a rescued job is ready, and counts its rescues apart from its attempts (X3)': async (bench) => {
      const id = await bench.sendOne()
      await bench.claimOne({ leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      await bench.backend.reap(3)
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.attempts, record.rescues], ['ready', 0, 1])
      assert.deepEqual([record.leaseExpiresAt, record.errors], [null, []])
    },
    'ended jobs are kept only if requested (X16)': async (bench) => {
      const end = (lease: Lease, keep: boolean): readonly Settlement[] => [
        bench.done(lease, { keep }),
        bench.dead(lease, keep),
        bench.cancelled(lease, keep),
        bench.skipped(lease, keep),
      ]
      for (const keep of [true, false]) {
        for (const ending of [0, 1, 2, 3]) {
          const id = await bench.sendOne()
          await bench.settle(end(await bench.claimOne(), keep)[ending] as Settlement)
          assert.equal((await bench.store.get(id)) !== null, keep, `ending ${ending}, keep ${keep}`)
        }
      }
    },
    'only the owner of the lease can write progress': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne({ leaseMs: 1_000 })
      await bench.store.report([
        { token: 'unknown', progress: '1' },
        { token: lease.token, progress: '0.5' },
      ])
      assert.equal((await bench.record(id)).progress, '0.5')
      await bench.store.report([{ token: lease.token, progress: JSON.stringify(oddText) }])
      assert.equal((await bench.record(id)).progress, JSON.stringify(oddText))
      await bench.clock.advance(1_000)
      const next = await bench.claimOne({ owner: 'worker-2' })
      await bench.store.report([{ token: next.token, progress: '0.1' }])
      await bench.store.report([{ token: lease.token, progress: '0.9' }])
      assert.equal((await bench.record(id)).progress, '0.1')
    },
    'an id that was never sent has no record': async (bench) => {
      await bench.send({})
      for (const id of ['', 'nothing', oddText]) assert.equal(await bench.store.get(id), null)
    },
  },
}
