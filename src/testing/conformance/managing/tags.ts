import assert from 'node:assert/strict'
import type { Bench } from '../bench.ts'
import type { Group } from '../suite.ts'

export const tags: Group = {
  title: 'tags',
  needs: ['store'],
  tests: {
    'jobs are listed by a tag, newest first, page by page': async (bench) => {
      const ids = await bench.send({ tags: ['a', 'b'] }, { tags: ['b'] }, {}, { tags: ['a'], job: 'other', queue: 'other' })
      assert.deepEqual(await idsWith(bench, 'a'), [ids[3], ids[0]])
      assert.deepEqual(await idsWith(bench, 'b'), [ids[1], ids[0]])
      assert.deepEqual(await idsWith(bench, 'c'), [])
      const first = await bench.store.list({ tag: 'a', limit: 1 })
      const second = await bench.store.list({ tag: 'a', limit: 1, before: first[0]?.id as string })
      assert.deepEqual(
        [...first, ...second].map(({ id }) => id),
        [ids[3], ids[0]],
      )
      const others = await bench.store.list({ tag: 'a', job: 'other', queue: 'other', state: 'ready', limit: 9 })
      assert.deepEqual(
        others.map(({ id }) => id),
        [ids[3]],
      )
    },
    'records and claimed jobs have their tags': async (bench) => {
      const id = await bench.sendOne({ tags: ['é', 'a b'] })
      assert.deepEqual((await bench.store.get(id))?.tags, ['é', 'a b'])
      const { envelope } = await bench.claimOne()
      assert.match(envelope.identity, /\["é","a b"\]\]$/)
    },
    'tags are compared exactly': async (bench) => {
      const [upper] = await bench.send({ tags: ['Urgent'] }, { tags: ['urgent'] }, { tags: ['urgent '] })
      assert.deepEqual(await idsWith(bench, 'Urgent'), [upper])
    },
    'a job that is amended has the tags of its new envelope': async (bench) => {
      const id = await bench.sendOne({ tags: ['old', 'both'] })
      await bench.store.amend([{ id, expected: null, envelope: bench.envelope({ id, tags: ['both', 'new'] }) }])
      assert.deepEqual([await idsWith(bench, 'old'), await idsWith(bench, 'both'), await idsWith(bench, 'new')], [[], [id], [id]])
      await bench.store.amend([{ id, expected: null, envelope: bench.envelope({ id }) }])
      assert.deepEqual(await idsWith(bench, 'both'), [])
    },
    'a deleted job is not found by its tag, even if another one has its id': async (bench) => {
      const id = await bench.sendOne({ tags: ['a'] })
      await bench.settle(bench.done(await bench.claimOne(), { keep: true }))
      assert.equal(await bench.store.remove({ state: 'succeeded', ids: [id], limit: 1 }), 1)
      await bench.sendOne({ id })
      assert.deepEqual(await idsWith(bench, 'a'), [])
    },
  },
}

async function idsWith({ store }: Bench, tag: string): Promise<readonly string[]> {
  return (await store.list({ tag, limit: 100 })).map(({ id }) => id)
}
