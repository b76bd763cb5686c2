import assert from 'node:assert/strict'
import { times, unlimited } from '../bench.ts'
import type { Group } from '../suite.ts'

/** Every kind of character that has broken a store or a protocol before. NUL is left out, because SQL text cannot contain it. */
export const oddText = `O'Hara "quoted" \\ back\`tick\` %_ ; -- /* $1 ?1 :x @y #{z} \u{1F9F5} 日本語 é e\u0301 \u200f\u2028 tab\tline\r\nend`

/** The same for names, which have no control characters. */
export const oddName = `it's "a" \\ 100%_ job; -- /* $1 ?1 \u{1F9F5} 日本語 ünï`

export const sending: Group = {
  title: 'sending',
  needs: [],
  tests: {
    'a job is claimed as it was sent': async (bench) => {
      const envelope = {
        ...bench.envelope({
          payload: '{"to":"ada@example.com","list":[1,2.5,null,true]}',
          meta: { trace: 'abc' },
          uniqueKey: 'u1',
        }),
        signature: 'k1.c2lnbmVk',
      }
      assert.deepEqual(await bench.backend.send([envelope]), [{ id: envelope.id, stored: true }])
      const lease = await bench.claimOne()
      assert.deepEqual({ ...lease.envelope }, envelope)
      assert.equal(lease.attempt, 1)
    },
    'text of any script, with quotes and line breaks, is returned unchanged': async (bench) => {
      const wanted = {
        job: oddName,
        queue: 'ünï-日本語.a_b:c/d',
        uniqueKey: oddText,
        payload: JSON.stringify({ [oddText]: oddText }),
      }
      const envelope = { ...bench.envelope(wanted), signature: oddText }
      await bench.backend.send([envelope])
      const request = { jobs: unlimited(oddName), queues: [wanted.queue], owner: oddText }
      const { leases } = await bench.lease(request)
      assert.deepEqual({ ...leases[0]?.envelope }, envelope)
      await bench.settle({
        token: leases[0]?.token as string,
        kind: 'retry',
        delayMs: 0,
        error: { attempt: 1, at: bench.clock.now(), message: oddText },
      })
      await bench.settle(bench.done(await bench.claimOne(request), { result: JSON.stringify(oddText), keep: true }))
    },
    'a payload of a megabyte is returned whole': async (bench) => {
      const payload = JSON.stringify('é'.repeat(500_000))
      await bench.send({ payload })
      assert.ok((await bench.claimOne()).envelope.payload === payload)
    },
    'jobs of one priority are claimed in the order in which they were sent': async (bench) => {
      const ids = [...(await bench.send({}, {}, {})), await bench.sendOne(), await bench.sendOne()]
      assert.deepEqual(await bench.claimedIds({ limit: 2 }), ids.slice(0, 2))
      assert.deepEqual(await bench.claimedIds({ limit: 10 }), ids.slice(2))
    },
    'a higher priority is claimed sooner, whatever was sent first (X1)': async (bench) => {
      const priorities = [5, -32_768, 20, 5, 0, 32_767, 1]
      await bench.send(...priorities.map((priority) => ({ priority })))
      const claimed = [...(await bench.claim({ limit: 3 })), ...(await bench.claim())]
      assert.deepEqual(
        claimed.map(({ envelope }) => envelope.priority),
        [...priorities].sort((a, b) => b - a),
      )
    },
    'priority decides across queues and job keys': async (bench) => {
      const [low, high, middle] = await bench.send(
        { priority: 1, job: 'a', queue: 'one' },
        { priority: 9, job: 'b', queue: 'two' },
        { priority: 5, job: 'a', queue: 'two' },
      )
      assert.deepEqual(await bench.claimedIds({ jobs: unlimited('a', 'b') }), [high, middle, low])
    },
    'among equal priorities the job that was due first comes first': async (bench) => {
      const now = bench.clock.now()
      const [second, third, first] = await bench.send({ runAt: now - 10 }, { runAt: now }, { runAt: now - 500, queue: 'other' })
      assert.deepEqual(await bench.claimedIds(), [first, second, third])
    },
    'a batch of 1,000 is stored and drained without loss or repetition': async (bench) => {
      const ids = await bench.send(...times(1_000, (index) => ({ payload: String(index) })))
      const seen: string[] = []
      for (let leases = await bench.claim({ limit: 300 }); leases.length > 0; leases = await bench.claim({ limit: 300 })) {
        seen.push(...leases.map(({ envelope }) => envelope.id))
        await bench.settle(...leases.map((lease) => bench.done(lease)))
      }
      assert.deepEqual(seen, ids)
    },
    'sending the same envelope again stores it once, so a send may be repeated after a lost answer': async (bench) => {
      const envelope = bench.envelope()
      assert.deepEqual(await bench.backend.send([envelope]), [{ id: envelope.id, stored: true }])
      assert.deepEqual(await bench.backend.send([envelope]), [{ id: envelope.id, stored: false }])
      await bench.claimOne()
      assert.deepEqual(await bench.backend.send([envelope]), [{ id: envelope.id, stored: false }])
      await bench.assertNothingClaimable()
    },
    'the same id twice in one batch is stored once, and the receipts keep the order': async (bench) => {
      const [one, two] = [bench.envelope(), bench.envelope()]
      const receipts = await bench.backend.send([one, two, one])
      assert.deepEqual(receipts, [
        { id: one.id, stored: true },
        { id: two.id, stored: true },
        { id: one.id, stored: false },
      ])
      assert.deepEqual(await bench.claimedIds(), [one.id, two.id])
    },
    'of several jobs with one id in one batch, the first is stored': async (bench) => {
      const first = bench.envelope({ payload: '"first"' })
      await bench.backend.send([first, bench.envelope({ id: first.id, payload: '"second"' })])
      assert.equal((await bench.claimOne()).envelope.payload, '"first"')
    },
    'one id that exists already does not affect the rest of a large batch': async (bench) => {
      const known = bench.envelope()
      await bench.backend.send([known])
      const batch = times(200, (index) => (index === 77 ? known : bench.envelope()))
      const receipts = await bench.backend.send(batch)
      assert.deepEqual(
        receipts,
        batch.map(({ id }, index) => ({ id, stored: index !== 77 })),
      )
      assert.equal((await bench.claim({ limit: 1_000 })).length, 200)
    },
    'empty batches are answered with empty batches': async (bench) => {
      assert.deepEqual(await bench.backend.send([]), [])
      assert.deepEqual(await bench.backend.settle([]), [])
      assert.deepEqual(await bench.backend.extend([], 1_000), [])
    },
  },
}
