import assert from 'node:assert/strict'
import type { KeyPattern } from '../../../queue/rules/claiming/key-pattern.ts'
import { type Bench, times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

/** Keys that fit a glob. */
const fitting = (glob: string): KeyPattern => [{ names: [], globs: [glob], mark: 'mock~', marked: 'left out' }]

export const patterns: Group = {
  title: 'claims by pattern',
  needs: ['store', 'patterns'],
  tests: {
    'jobs whose key fits are claimed beside those that are named, in one order': async (bench) => {
      const [low, , named, high] = await bench.send(
        { job: 'mail.send', priority: 1 },
        { job: 'image.scale', priority: 9 },
        { job: 'work', priority: 2 },
        { job: 'mail.read', priority: 3 },
      )
      const request = { jobs: unlimited('work'), others: fitting('mail.*') }
      assert.deepEqual(await bench.claimedIds(request), [high, named, low])
      await bench.assertNothingClaimable(request)
    },
    'a job is found behind very many others, wherever in its key the pattern is literal, unless its queue is paused': async (
      bench,
    ) => {
      const others = times(2_750, (index) => ({ job: `other-${index}` }))
      for (let rounds = 0; rounds < 4; rounds++) await bench.send(...others)
      const ids = await bench.send({ job: 'one.x' }, { job: 'two.x' }, { job: 'three.x' })
      const [paused] = await bench.send({ job: 'four.x', queue: 'paused' })
      await bench.store.setPaused({ queue: 'paused' }, true)
      const claimed = await claimOneByOne(bench, fitting('*.x'), ids.length)
      assert.deepEqual(claimed.toSorted(), ids.toSorted())
      await bench.assertNothingClaimable({ jobs: [], others: fitting('*.x') })
      await bench.store.setPaused({ queue: 'paused' }, false)
      assert.deepEqual(await bench.claimedIds({ jobs: [], others: fitting('*.x') }), [paused])
      const [last] = await bench.send({ job: 'one.x' })
      assert.deepEqual(await bench.claimedIds({ jobs: [], others: fitting('one.*') }), [last])
    },
  },
}

async function claimOneByOne(bench: Bench, others: KeyPattern, count: number): Promise<readonly string[]> {
  const claimed: string[] = []
  for (let claims = 0; claims < count; claims++) claimed.push(...(await bench.claimedIds({ jobs: [], others, limit: 1 })))
  return claimed
}
