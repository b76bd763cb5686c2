import assert from 'node:assert/strict'
import type { ClaimRules } from '../../../queue/contract/contract.ts'
import { byGroup, limited, times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

export const holding: Group = {
  title: 'what keeps a job waiting',
  needs: ['store'],
  tests: {
    'nothing is reported for a job that is claimable, not ready or missing': async (bench) => {
      const [ready, later] = await bench.send({}, { delayMs: 1_000 })
      const rules: ClaimRules = { jobs: limited('work', 1) }
      for (const id of [ready, later, '0190d1a2-0000-7000-8000-000000000000']) {
        assert.deepEqual(await bench.store.holds(id as string, rules), [])
      }
      await bench.claimOne(rules)
      assert.deepEqual(await bench.store.holds(ready as string, rules), [])
    },
    'the limit of its key': async (bench) => {
      const ids = await bench.send(...times(3, () => ({})))
      const rules: ClaimRules = { jobs: limited('work', 2) }
      await bench.claim(rules)
      const hold = { rule: 'concurrency', limit: 2, running: 2, until: null }
      assert.deepEqual(await bench.store.holds(ids[2] as string, rules), [hold])
      assert.deepEqual(await bench.store.holds(ids[2] as string, { jobs: unlimited('work') }), [])
    },
    'another job of its key, if it must run alone': async (bench) => {
      const [, second] = await bench.send({ singleInstance: true }, { singleInstance: true })
      await bench.claim()
      const hold = { rule: 'single', limit: 1, running: 1, until: null }
      assert.deepEqual(await bench.store.holds(second as string, { jobs: unlimited('work') }), [hold])
    },
    'the rates of its key, group and queue, and when they next allow a start': async (bench) => {
      const rate = { limit: 1, perMs: 1_000 }
      const ids = await bench.send({ group: 'a' }, { group: 'a' }, { group: 'b' })
      const rules: ClaimRules = {
        jobs: [{ job: 'work', concurrency: null, rate, group: { concurrency: null, rate: { limit: 1, perMs: 2_000 } } }],
        queueLimits: [{ queue: 'default', concurrency: null, rate: { limit: 1, perMs: 3_000 } }],
      }
      const now = bench.clock.now()
      await bench.claim(rules)
      const shared = [
        { rule: 'rate', limit: 1, running: null, until: now + 1_000 },
        { rule: 'queue-rate', limit: 1, running: null, until: now + 3_000 },
      ]
      assert.deepEqual(await bench.store.holds(ids[2] as string, rules), shared)
      const ofGroup = { rule: 'group-rate', limit: 1, running: null, until: now + 2_000 }
      assert.deepEqual(await bench.store.holds(ids[1] as string, rules), [shared[0], ofGroup, shared[1]])
    },
    'the limits of its group and its queue': async (bench) => {
      const ids = await bench.send({ group: 'a' }, { group: 'a' }, { group: 'b' })
      const rules: ClaimRules = {
        jobs: byGroup({ concurrency: 1 }),
        queueLimits: [{ queue: 'default', concurrency: 2, rate: null }],
      }
      await bench.claim(rules)
      assert.deepEqual(await bench.store.holds(ids[1] as string, rules), [
        { rule: 'group-concurrency', limit: 1, running: 1, until: null },
        { rule: 'queue-concurrency', limit: 2, running: 2, until: null },
      ])
    },
    'jobs are listed and shown by their group': async (bench) => {
      const [one, , other] = await bench.send({ group: 'a' }, {}, { group: 'a', queue: 'x' }, { group: 'b' })
      assert.deepEqual(
        (await bench.store.list({ group: 'a', limit: 9 })).map(({ id }) => id),
        [other, one],
      )
      assert.deepEqual(
        (await bench.store.list({ group: 'a', queue: 'x', limit: 9 })).map(({ group }) => group),
        ['a'],
      )
      assert.deepEqual(await bench.store.list({ group: '', limit: 9 }), [])
    },
  },
}
