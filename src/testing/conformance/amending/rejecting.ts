import assert from 'node:assert/strict'
import { type Seal, sealOf } from '../../../envelope/envelope.ts'
import type { Rejection } from '../../../queue/contract/store.ts'
import { type Bench, unlimited } from '../bench.ts'
import { nonZeroCounts, reality } from '../managing/listing.ts'
import type { Group } from '../suite.ts'

async function rejection(bench: Bench, id: string, other: Partial<Seal> = {}): Promise<Rejection> {
  const expected = { ...sealOf(await bench.record(id)), ...other }
  return { id, expected, error: { attempt: 0, at: bench.clock.now(), message: 'not what was signed', code: 'SIGNATURE_INVALID' } }
}

export const rejecting: Group = {
  title: 'rejecting',
  needs: ['store'],
  tests: {
    'a job that waits ends as dead, with the reason, and is not claimed': async (bench) => {
      const [ready, later] = (await bench.send({}, { delayMs: 60_000 })) as [string, string]
      const blocked = await bench.sendOne({
        links: { root: 'r', parent: null, waitsFor: [{ id: later, onFailure: 'ignore' }], longestWaitMs: 1_000_000 },
      })
      const ids = [ready, blocked, later]
      const rejections = await Promise.all(ids.map((id) => rejection(bench, id)))
      assert.deepEqual(await bench.store.amend(rejections), ['rejected', 'rejected', 'rejected'])
      for (const id of ids) {
        const { state, reason, errors, attempts, finishedAt } = await bench.record(id)
        assert.deepEqual([state, reason, attempts, finishedAt], ['dead', 'rejected', 0, bench.clock.now()])
        assert.deepEqual(errors.at(-1)?.message, 'not what was signed')
      }
      assert.deepEqual(await nonZeroCounts(bench), await reality(bench))
      await bench.clock.advance(120_000)
      assert.deepEqual(await bench.claimedIds(), [])
    },
    'it frees its unique key, and its dependents react to its end': async (bench) => {
      const id = await bench.sendOne({ uniqueKey: 'k' })
      const waiter = await bench.sendOne({
        job: 'other',
        links: { root: 'r', parent: null, waitsFor: [{ id, onFailure: 'continue' }], longestWaitMs: 1_000_000 },
      })
      assert.equal((await bench.record(waiter)).state, 'blocked')
      assert.deepEqual(await bench.store.amend([await rejection(bench, id)]), ['rejected'])
      assert.deepEqual(await bench.claimedIds({ jobs: unlimited('other') }), [waiter])
      const [receipt] = await bench.backend.send([bench.envelope({ uniqueKey: 'k' })])
      assert.equal(receipt?.stored, true)
    },
    'a job that runs, has ended, is missing or has changed is left alone': async (bench) => {
      const [running, ended, changed] = (await bench.send({}, { job: 'ended' }, { job: 'changed' })) as [string, string, string]
      await bench.claimOne()
      const lease = await bench.claimOne({ jobs: unlimited('ended') })
      await bench.backend.settle([{ token: lease.token, kind: 'done', result: null, keep: true }])
      const missing = { ...(await rejection(bench, changed)), id: bench.newId() }
      const rejections = [
        await rejection(bench, running),
        await rejection(bench, ended),
        missing,
        await rejection(bench, changed, { payload: '{"n":2}' }),
        await rejection(bench, changed, { identity: '[]' }),
        await rejection(bench, changed, { signature: 'k1.c2lnbmVk' }),
      ]
      const answers = await bench.store.amend(rejections)
      assert.deepEqual(answers, ['claimed', 'ended', 'missing', 'changed', 'changed', 'changed'])
      assert.deepEqual(await Promise.all([running, ended, changed].map(async (id) => (await bench.record(id)).state)), [
        'running',
        'succeeded',
        'ready',
      ])
    },
    'a rejected job can be retried': async (bench) => {
      const id = await bench.sendOne()
      await bench.store.amend([await rejection(bench, id)])
      assert.deepEqual(await bench.store.retry([id]), ['requeued'])
      assert.deepEqual(await bench.claimedIds(), [id])
    },
  },
}
