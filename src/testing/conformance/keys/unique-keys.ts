import assert from 'node:assert/strict'
import type { Bench, Wanted } from '../bench.ts'
import { unlimited } from '../bench.ts'
import { oddText } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

/** Sends a job with a key that is taken, and asserts which job holds it. */
export async function assertTaken(bench: Bench, wanted: Wanted, holder: string): Promise<void> {
  assert.deepEqual(await bench.backend.send([bench.envelope(wanted)]), [{ id: holder, stored: false }])
}

export const uniqueKeys: Group = {
  title: 'unique keys',
  needs: [],
  tests: {
    'a second job with the key is not stored while the first one lives, and the receipt names the first': async (bench) => {
      const key = { uniqueKey: 'welcome:ada' }
      const holder = await bench.sendOne({ ...key, delayMs: 100 })
      await assertTaken(bench, key, holder)
      await bench.clock.advance(100)
      const lease = await bench.claimOne()
      await assertTaken(bench, key, holder)
      await bench.settle(bench.retry(lease, 1_000))
      await assertTaken(bench, key, holder)
      await bench.clock.advance(1_000)
      assert.deepEqual(await bench.claimedIds(), [holder])
    },
    'the key is free again once the job has ended, however it ended': async (bench) => {
      for (const end of bench.endings()) {
        await bench.send({ uniqueKey: 'again' })
        await bench.settle(end(await bench.claimOne()))
      }
      await bench.send({ uniqueKey: 'again' })
    },
    'the key is free again once the job is given up': async (bench) => {
      await bench.send({ uniqueKey: 'again' })
      await bench.claimOne({ leaseMs: 1 })
      await bench.clock.advance(1)
      await bench.backend.reap(0)
      await bench.send({ uniqueKey: 'again' })
    },
    'a rescued job keeps its key': async (bench) => {
      const holder = await bench.sendOne({ uniqueKey: 'mine' })
      await bench.claimOne({ leaseMs: 1 })
      await bench.clock.advance(1)
      await bench.backend.reap(3)
      await assertTaken(bench, { uniqueKey: 'mine' }, holder)
    },
    'two envelopes of one batch with the same key are stored once': async (bench) => {
      const [first, second, other] = [{ uniqueKey: 'k' }, { uniqueKey: 'k' }, {}].map((wanted) => bench.envelope(wanted))
      assert.ok(first && second && other)
      assert.deepEqual(await bench.backend.send([first, second, other]), [
        { id: first.id, stored: true },
        { id: first.id, stored: false },
        { id: other.id, stored: true },
      ])
      assert.deepEqual(await bench.claimedIds(), [first.id, other.id])
    },
    'the key counts within one job key, whatever the queue': async (bench) => {
      const holder = await bench.sendOne({ job: 'a', uniqueKey: 'k', queue: 'one' })
      await bench.send({ job: 'b', uniqueKey: 'k' })
      await assertTaken(bench, { job: 'a', uniqueKey: 'k', queue: 'two', priority: 9 }, holder)
      assert.equal((await bench.claim({ jobs: unlimited('a', 'b') })).length, 2)
    },
    'job and key cannot be mistaken for another pair (X40)': async (bench) => {
      await bench.send({ job: 'a', uniqueKey: 'b:c' }, { job: 'a:b', uniqueKey: 'c' }, { job: 'a b', uniqueKey: 'c' })
      await bench.send({ job: 'a', uniqueKey: 'b c' }, { job: 'a', uniqueKey: 'b|c' }, { job: 'a|b', uniqueKey: 'c' })
    },
    'long names and keys are compared to the last character (X40)': async (bench) => {
      const job = 'j'.repeat(191)
      const long = 'k'.repeat(511)
      const one = await bench.sendOne({ job, uniqueKey: `${long}1` })
      const two = await bench.sendOne({ job, uniqueKey: `${long}2` })
      await assertTaken(bench, { job, uniqueKey: `${long}1` }, one)
      await assertTaken(bench, { job, uniqueKey: `${long}2` }, two)
    },
    'keys are compared exactly: case, accents and spaces count': async (bench) => {
      const keys = ['key', 'KEY', 'kéy', 'ke\u0301y', 'key ', ' key', oddText, `${oddText} `]
      await bench.send(...keys.map((uniqueKey) => ({ uniqueKey })))
    },
    'jobs without a key never conflict': async (bench) => {
      assert.equal(new Set(await bench.send({}, {}, {})).size, 3)
    },
  },
}
