import assert from 'node:assert/strict'
import { cancelOutcome } from '../../../queue/contract/queue-counts.ts'
import type { Bench, Wanted } from '../bench.ts'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'
import { assertTaken } from './unique-keys.ts'

const started = { uniqueKey: 'k', uniqueUntil: 'started' } as const
const ended = { uniqueKey: 'k', uniqueUntil: 'ended' } as const
const ever = { uniqueKey: 'k', uniqueUntil: 'ever' } as const

function forMs(bench: Bench, ms: number): Wanted {
  return { uniqueKey: 'k', uniqueUntil: bench.clock.now() + ms }
}

export const uniqueTimes: Group = {
  title: 'how long unique keys are held',
  needs: [],
  tests: {
    'a job is claimed with the time for which its key is held': async (bench) => {
      const wanted: readonly Wanted[] = [started, ended, ever, forMs(bench, 60_000), { uniqueKey: null }]
      for (const [index, each] of wanted.entries()) {
        const envelope = bench.envelope({ ...each, job: `job-${index}` })
        await bench.backend.send([envelope])
        const [lease] = await bench.claim({ jobs: [{ job: `job-${index}`, concurrency: null }] })
        assert.deepEqual({ ...lease?.envelope }, envelope)
      }
    },
    'until started: the key is free once the job is claimed, and a retry does not take it again': async (bench) => {
      const first = await bench.sendOne(started)
      await assertTaken(bench, started, first)
      const lease = await bench.claimOne()
      const second = await bench.sendOne(started)
      await bench.settle(bench.retry(lease))
      await assertTaken(bench, started, second)
      assert.deepEqual(new Set(await bench.claimedIds()), new Set([first, second]))
      await bench.send(started)
    },
    'until started: neither a snooze nor a lost lease takes the key again': async (bench) => {
      await bench.send(started)
      await bench.settle(bench.snooze(await bench.claimOne()))
      const second = await bench.sendOne(started)
      await bench.claim({ leaseMs: 1_000 })
      await bench.clock.advance(1_000)
      await bench.backend.reap(3)
      const third = await bench.sendOne(started)
      await assertTaken(bench, started, third)
      assert.notEqual(second, third)
    },
    'until an instant: the key is held beyond the end of the job, to the millisecond': async (bench) => {
      const holder = await bench.sendOne(forMs(bench, 5_000))
      await bench.settle(bench.done(await bench.claimOne()))
      await bench.clock.advance(4_999)
      await assertTaken(bench, forMs(bench, 5_000), holder)
      await bench.clock.advance(1)
      await bench.send(forMs(bench, 5_000))
    },
    'until an instant: it is free then, although the job still waits or runs': async (bench) => {
      await bench.send({ ...forMs(bench, 5_000), delayMs: 60_000 })
      await bench.clock.advance(5_000)
      await bench.send(forMs(bench, 5_000))
      await bench.claimOne({ leaseMs: 60_000 })
      await bench.clock.advance(5_000)
      await bench.send(forMs(bench, 5_000))
    },
    'forever: neither the end of the job nor time frees the key': async (bench) => {
      const holder = await bench.sendOne(ever)
      await bench.settle(bench.done(await bench.claimOne()))
      await bench.clock.advance(400 * 86_400_000)
      await assertTaken(bench, ever, holder)
      await bench.send({ ...ever, job: 'another' })
    },
    'different times compete: the holder of the key keeps all others out': async (bench) => {
      const kinds = (): readonly Wanted[] => [started, ended, ever, forMs(bench, 60_000)]
      for (const [index] of kinds().entries()) {
        const uniqueKey = `key-${index}`
        const holder = await bench.sendOne({ ...kinds()[index], uniqueKey, delayMs: 1_000 })
        for (const other of kinds()) await assertTaken(bench, { ...other, uniqueKey }, holder)
      }
    },
    'a key that was held for a time may be held by the state of the next job, and the other way round': async (bench) => {
      await bench.send(forMs(bench, 1_000))
      await bench.settle(bench.done(await bench.claimOne()))
      await bench.clock.advance(1_000)
      const next = await bench.sendOne(ended)
      await assertTaken(bench, forMs(bench, 1_000), next)
      await bench.settle(bench.done(await bench.claimOne()))
      const last = await bench.sendOne(forMs(bench, 1_000))
      await assertTaken(bench, ended, last)
    },
    'two envelopes of one batch compete, whatever their times are': async (bench) => {
      const wanted: readonly Wanted[] = [ever, ended, forMs(bench, 1_000), { ...started, uniqueKey: 'other' }]
      const envelopes = wanted.map((each) => bench.envelope(each))
      const receipts = await bench.backend.send(envelopes)
      assert.deepEqual(
        receipts.map(({ stored }) => stored),
        [true, false, false, true],
      )
      assert.deepEqual(receipts[2], { id: envelopes[0]?.id, stored: false })
    },
    'a large batch keeps out those whose keys are held for a time, and only them': async (bench) => {
      const holder = await bench.sendOne({ uniqueKey: 'key-70', uniqueUntil: 'ever' })
      await bench.settle(bench.done(await bench.claimOne()))
      const envelopes = times(150, (index) => bench.envelope({ uniqueKey: `key-${index}`, uniqueUntil: 'ended' }))
      const receipts = await bench.backend.send(envelopes)
      assert.deepEqual(
        receipts.filter(({ stored }) => !stored),
        [{ id: holder, stored: false }],
      )
      assert.equal((await bench.claim({ limit: 200 })).length, 149)
    },
    'an instant in the past holds nothing': async (bench) => {
      await bench.send(forMs(bench, 0), forMs(bench, -1_000), { uniqueKey: 'k', uniqueUntil: 0 }, ended)
    },
    'the same envelope that is sent again is its own holder': async (bench) => {
      const envelope = bench.envelope(ever)
      await bench.backend.send([envelope])
      assert.deepEqual(await bench.backend.send([envelope]), [{ id: envelope.id, stored: false }])
    },
  },
}

export const uniqueKeysReplayed: Group = {
  title: 'unique keys of jobs that are changed',
  needs: ['store', 'coordination'],
  tests: {
    'a key is held for its time, even after its job was deleted': async (bench) => {
      const holder = await bench.sendOne(forMs(bench, 5_000))
      await bench.settle(bench.done(await bench.claimOne(), { keep: true }))
      assert.equal(await bench.store.remove({ state: 'succeeded', limit: 10 }), 1)
      await assertTaken(bench, ended, holder)
    },
    'a job that is cancelled before it was ever claimed frees its key': async (bench) => {
      for (const wanted of [started, ended, ever, forMs(bench, 60_000)]) {
        await bench.store.cancel(await bench.sendOne(wanted))
      }
      await bench.send(ever)
    },
    'once its job was claimed, a key that is held for a time is freed only by time': async (bench) => {
      const holder = await bench.sendOne(forMs(bench, 60_000))
      await bench.settle(bench.retry(await bench.claimOne(), 1_000))
      assert.equal(cancelOutcome(await bench.store.cancel(holder)), 'cancelled')
      await assertTaken(bench, ended, holder)
      await bench.clock.advance(60_000)
      await bench.send(ended)
    },
    'a scheduled run that is withdrawn or skipped before it was claimed frees its key': async (bench) => {
      const { schedules } = bench.store
      const now = bench.clock.now()
      const runAt = now + 1_000
      await schedules.register([{ name: 's', expression: '* * * * *', timezone: 'UTC', version: '1' }])
      await schedules.enqueue([{ schedule: 's', at: runAt, envelope: bench.envelope({ ...ever, runAt }) }])
      await schedules.change('s', 'pause')
      await schedules.change('s', 'resume')
      const again = bench.envelope({ ...ever, runAt })
      assert.deepEqual(await schedules.enqueue([{ schedule: 's', at: runAt, envelope: again }]), [true])
      await bench.clock.advance(2_000)
      const request = { schedule: 's', before: bench.clock.now(), unseenOnly: false, why: 'late' }
      assert.equal(await schedules.skipWaiting(request), 1)
      await bench.send(ever)
    },
    'a retried job does not conflict with its own key': async (bench) => {
      for (const wanted of [started, ended, ever, forMs(bench, 60_000)]) {
        const id = await bench.sendOne({ ...wanted, uniqueKey: String(wanted.uniqueUntil) })
        await bench.settle(bench.dead(await bench.claimOne()))
        assert.deepEqual(await bench.store.retry([id]), ['requeued'])
        await assertTaken(bench, { ...wanted, uniqueKey: String(wanted.uniqueUntil) }, id)
        await bench.settle(bench.done(await bench.claimOne()))
      }
    },
    'a retried job takes the key again that it had freed': async (bench) => {
      for (const wanted of [ever, { ...forMs(bench, 60_000), uniqueKey: 'timed' }]) {
        const id = await bench.sendOne(wanted)
        await bench.store.cancel(id)
        assert.deepEqual(await bench.store.retry([id]), ['requeued'])
        await assertTaken(bench, wanted, id)
      }
    },
    'retrying a job whose key another one holds is a conflict': async (bench) => {
      const holders: readonly Wanted[] = [started, ended, ever, forMs(bench, 60_000)]
      for (const [index, holder] of holders.entries()) {
        for (const [place, wanted] of holders.entries()) {
          const uniqueKey = `${index}-${place}`
          const id = await bench.sendOne({ ...wanted, uniqueKey, delayMs: 60_000 })
          await bench.store.cancel(id)
          await bench.send({ ...holder, uniqueKey, delayMs: 60_000 })
          assert.deepEqual(await bench.store.retry([id]), ['conflict'], `${uniqueKey}`)
        }
      }
    },
    'deleting an ended job does not free the key that another job holds now': async (bench) => {
      const first = await bench.sendOne(ever)
      await bench.store.cancel(first)
      const second = await bench.sendOne(ever)
      await bench.store.remove({ state: 'cancelled', limit: 10 })
      await assertTaken(bench, ever, second)
    },
    'expired keys are swept, and no others': async (bench) => {
      await bench.send({ ...forMs(bench, 1_000), uniqueKey: 'a' }, { ...forMs(bench, 2_000), uniqueKey: 'b' }, ever)
      assert.equal((await bench.store.sweep({ part: 'keys', limit: 10 })).changed, 0)
      await bench.clock.advance(2_000)
      assert.equal((await bench.store.sweep({ part: 'keys', limit: 1 })).changed, 1)
      assert.equal((await bench.store.sweep({ part: 'keys', limit: 10 })).changed, 1)
      assert.equal((await bench.store.sweep({ part: 'keys', limit: 10 })).changed, 0)
      assert.equal((await bench.backend.send([bench.envelope(ever)]))[0]?.stored, false)
    },
  },
}
