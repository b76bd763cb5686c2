import assert from 'node:assert/strict'
import type { Links } from '../../../envelope/envelope.ts'
import type { Bench } from '../bench.ts'
import type { Group } from '../suite.ts'
import { assertStates, childOf, claimJob, endJob, runningParent, sendWaiting, succeed, waitsFor } from '../workflows/links.ts'

/** The signatures that workers make for the ends of jobs are stored with them, and returned wherever the end is returned. */
export const seals: Group = {
  title: 'seals of results',
  needs: ['store'],
  tests: {
    'a job that succeeded has its seal, with or without a result': async (bench) => {
      const ids = await bench.send({}, {}, {}, {})
      const results = ['{"n":1}', '{"n":2}', null, null]
      const given = ['key.one', 'key.two', 'key.three', null]
      const leases = await bench.claim()
      const settlements = leases.map((lease) => {
        const at = ids.indexOf(lease.envelope.id)
        return bench.done(lease, { keep: true, result: results[at] as string | null, seal: given[at] as string | null })
      })
      await bench.settle(...settlements)
      assert.deepEqual(await sealsOf(bench, ids), given)
    },
    'a job that was skipped with the result of another run has its seal': async (bench) => {
      const id = await bench.sendOne()
      const { token } = await bench.claimOne()
      await bench.settle({ token, kind: 'skipped', why: 'done before', keep: true, result: '7', seal: 'key.seven' })
      const { result, seal } = await bench.record(id)
      assert.deepEqual([result, seal], ['7', 'key.seven'])
    },
    'an idempotency key stores the given result, even if the job waits for its children': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const once = { key: 'kept', keepMs: 60_000, result: '"for the key"', seal: 'key.once' }
      await bench.backend.settle([bench.done(parent, { keep: true, result: '"for the job"', seal: 'key.job', once })])
      await endJob(bench, children[0] as string, (lease) => bench.done(lease))
      const [alone, other] = await bench.send({}, {})
      const mark = { key: 'plain', keepMs: 60_000, result: '"for the key"', seal: 'key.once' }
      await endJob(bench, alone as string, (lease) => bench.done(lease, { keep: true, result: '"for the job"', once: mark }))
      assert.equal((await bench.record(parent.envelope.id)).result, '"for the job"')
      assert.equal((await bench.record(alone as string)).result, '"for the job"')
      for (const key of ['kept', 'plain']) {
        const found = await bench.backend.coordination?.claimOnce(key, other as string)
        if (found !== undefined) assert.deepEqual(found, { kind: 'done', result: '"for the key"', seal: 'key.once' })
      }
    },
    'dependents get the seal with the result, even if the job is deleted at once': async (bench) => {
      const ids = await bench.send({}, {}, {})
      const after = await sendWaiting(bench, ids)
      const results = ['{"n":1}', null, '7']
      for (const [at, id] of ids.entries()) {
        const [result, seal] = [results[at] as string | null, `key.${at}`]
        await endJob(bench, id, (lease) => bench.done(lease, { result, seal }))
      }
      const known = (await bench.store.links(after)).map(({ result, seal }) => [result, seal])
      assert.deepEqual(known, [
        ['{"n":1}', 'key.0'],
        [null, 'key.1'],
        ['7', 'key.2'],
      ])
    },
    'a later dependent gets it too': async (bench) => {
      const first = await bench.sendOne()
      await endJob(bench, first, (lease) => bench.done(lease, { keep: true, result: '1', seal: 'key.one' }))
      const after = await sendWaiting(bench, [first])
      assert.deepEqual(await knownSeals(bench, after), ['key.one'])
    },
    'a parent that waits for its children keeps its seal, and gets theirs': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      const done = bench.done(parent, { keep: true, result: '"sum"', seal: 'key.sum' })
      assert.deepEqual(await bench.backend.settle([done]), ['blocked'])
      await endJob(bench, children[0] as string, (lease) => bench.done(lease, { result: '1', seal: 'key.child' }))
      const { id } = parent.envelope
      await assertStates(bench, { [id]: 'succeeded' })
      assert.equal((await bench.record(id)).seal, 'key.sum')
      assert.deepEqual(await knownSeals(bench, id), ['key.child'])
    },
    'a retried job has no seal any more': async (bench) => {
      const first = await bench.sendOne()
      const after = await sendWaiting(bench, [first])
      await endJob(bench, first, (lease) => bench.done(lease, { keep: true, result: '1', seal: 'key.one' }))
      await succeed(bench, after)
      await bench.store.retry([first])
      await bench.store.retry([after])
      assert.equal((await bench.record(first)).seal, null)
      await assertStates(bench, { [after]: 'blocked' })
      assert.deepEqual(await knownSeals(bench, after), [null])
    },
    'a lease reports whether its job is linked': async (bench) => {
      const [alone, first] = (await bench.send({}, {})) as [string, string]
      await sendWaiting(bench, [first])
      const leases = await bench.claim()
      const linked = new Map(leases.map((lease) => [lease.envelope.id, lease.linked ?? false]))
      assert.deepEqual([linked.get(alone), linked.get(first)], [false, true])
    },
    'a job that may end only without dependents does not end if there are any': async (bench) => {
      const [alone, first] = (await bench.send({}, {})) as [string, string]
      const leases = await bench.claim()
      const [one, other] = [alone, first].map((id) => leases.find(({ envelope }) => envelope.id === id))
      assert.ok(one !== undefined && other !== undefined)
      const after = await sendWaiting(bench, [first])
      const settlements = [one, other].map((lease) => bench.done(lease, { keep: true, unlinked: true }))
      assert.deepEqual(await bench.backend.settle(settlements), ['applied', 'unsealed'])
      await assertStates(bench, { [alone]: 'succeeded', [first]: 'running', [after]: 'blocked' })
      await bench.settle(bench.done(other, { keep: true, seal: 'key.late' }))
      assert.deepEqual(await knownSeals(bench, after), ['key.late'])
    },
    'nor does it without retention': async (bench) => {
      const first = await bench.sendOne()
      const lease = await bench.claimOne()
      await sendWaiting(bench, [first])
      assert.deepEqual(await bench.backend.settle([bench.done(lease, { unlinked: true })]), ['unsealed'])
      await assertStates(bench, { [first]: 'running' })
    },
    'a dependent vouches for an earlier success without seal and result, and for nothing else': async (bench) => {
      const [plain, sealed, told, failed, open] = (await bench.send({}, {}, {}, {}, {})) as [
        string,
        string,
        string,
        string,
        string,
      ]
      await endJob(bench, plain, (lease) => bench.done(lease, { keep: true, unlinked: true }))
      await endJob(bench, sealed, (lease) => bench.done(lease, { keep: true, seal: 'key.own' }))
      await endJob(bench, told, (lease) => bench.done(lease, { keep: true, result: '1' }))
      await endJob(bench, failed, (lease) => bench.dead(lease))
      const ids = [plain, sealed, told, failed, open]
      const after = await bench.sendOne({ links: vouching(ids) })
      await endJob(bench, open, (lease) => bench.done(lease, { keep: true }))
      assert.deepEqual(await knownSeals(bench, after), ['late.0', 'key.own', null, null, null])
      const another = await bench.sendOne({ links: vouching([open, plain]) })
      assert.deepEqual(await knownSeals(bench, another), ['late.0', 'late.1'])
      await succeed(bench, after)
      await bench.store.retry([after])
      assert.deepEqual(await knownSeals(bench, after), ['late.0', 'key.own', null, null, null])
    },
    'a parent vouches for an existing job that is used as its child': async (bench) => {
      const holder = await bench.sendOne({ uniqueKey: 'u', uniqueUntil: 'ever' })
      await endJob(bench, holder, (lease) => bench.done(lease, { keep: true, unlinked: true }))
      const { parent } = await runningParent(bench, [])
      const links = childOf(parent, 'one')
      const late = { ...links, parent: { ...(links.parent as NonNullable<Links['parent']>), late: 'late.one' } }
      const [receipt] = await bench.backend.send([bench.envelope({ uniqueKey: 'u', uniqueUntil: 'ever', links: late })])
      assert.equal(receipt?.id, holder)
      assert.deepEqual(await knownSeals(bench, parent.envelope.id), ['late.one'])
    },
  },
}

/** The same with idempotency keys, which need more of a backend than a store. */
export const sealsOfKeys: Group = {
  title: 'seals of idempotency keys',
  needs: ['store', 'coordination'],
  tests: {
    'the result stored under a key has its seal': async (bench) => {
      const id = await bench.sendOne()
      await bench.coordination.claimOnce('k', id)
      const once = { key: 'k', keepMs: 1_000, seal: 'key.once' }
      await endJob(bench, id, (lease) => bench.done(lease, { result: '1', seal: 'key.result', once }))
      const kept = await bench.coordination.claimOnce('k', 'another')
      assert.deepEqual(kept, { kind: 'done', result: '1', seal: 'key.once' })
    },
    'as does that of a parent that waited for its children': async (bench) => {
      const { parent, children } = await runningParent(bench, ['one'])
      await bench.coordination.claimOnce('k', parent.envelope.id)
      const once = { key: 'k', keepMs: 1_000, seal: 'key.once' }
      await bench.backend.settle([bench.done(parent, { result: '1', seal: 'key.result', once })])
      await bench.settle(bench.done(await claimJob(bench, children[0] as string), { seal: null }))
      const kept = await bench.coordination.claimOnce('k', 'another')
      assert.deepEqual(kept, { kind: 'done', result: '1', seal: 'key.once' })
    },
  },
}

async function sealsOf(bench: Bench, ids: readonly string[]): Promise<readonly (string | null)[]> {
  return Promise.all(ids.map(async (id) => (await bench.record(id)).seal))
}

async function knownSeals(bench: Bench, id: string): Promise<readonly (string | null)[]> {
  return (await bench.store.links(id)).map(({ seal }) => seal)
}

function vouching(ids: readonly string[]): Links {
  const links = waitsFor(ids, 'ignore')
  return { ...links, waitsFor: links.waitsFor.map((wait, place) => ({ ...wait, late: `late.${place}` })) }
}
