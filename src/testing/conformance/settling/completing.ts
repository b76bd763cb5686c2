import assert from 'node:assert/strict'
import { type Answer, answerOf, type Steps, wait } from '../../../core/answer.ts'
import type { WorkTransaction } from '../../../definition/transactions/sql-transaction.ts'
import type { Lease, Settlement } from '../../../queue/contract/contract.ts'
import type { Bench } from '../bench.ts'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'
import { die, runningParent, succeed } from '../workflows/links.ts'

async function running(bench: Bench): Promise<Lease> {
  await bench.send({})
  return bench.claimOne({ leaseMs: 1_000 })
}

/** Creates a table for what handlers write, emptied of what earlier tests wrote. */
async function prepare(bench: Bench): Promise<void> {
  await bench.execute('CREATE TABLE IF NOT EXISTS written (value VARCHAR(100))')
  await bench.execute('DELETE FROM written')
}

function* write(tx: WorkTransaction, value: string): Steps<void> {
  yield* wait<unknown>(tx.run(`INSERT INTO written (value) VALUES ('${value}')`))
}

/** Lets handlers be written once, whether statements are answered synchronously or asynchronously. */
function work(steps: (tx: WorkTransaction) => Steps<Settlement>): (tx: WorkTransaction) => Answer<Settlement> {
  return (tx) => answerOf(steps(tx))
}

function writes(bench: Bench, lease: Lease, value: string, more: Partial<Extract<Settlement, { kind: 'done' }>> = {}) {
  return work(function* (tx) {
    yield* write(tx, value)
    return bench.done(lease, { keep: true, ...more })
  })
}

/** What handlers have written, as seen by a transaction of another job. */
async function written(bench: Bench): Promise<readonly unknown[]> {
  const lease = await running(bench)
  let rows: readonly unknown[] = []
  const reads = work(function* (tx) {
    const found = yield* wait(tx.all('SELECT value FROM written ORDER BY value'))
    rows = (found as { value: unknown }[]).map(({ value }) => value)
    return bench.done(lease)
  })
  await bench.transactions.complete(lease.token, reads)
  return rows
}

const tests: Group['tests'] = {
  'the writes and the end of the job are committed together': async (bench) => {
    const lease = await running(bench)
    const once = { key: 'k', keepMs: 60_000 }
    const done = writes(bench, lease, 'one', { result: '"good"', once })
    assert.equal(await bench.transactions.complete(lease.token, done), 'applied')
    const record = await bench.record(lease.envelope.id)
    assert.deepEqual([record.state, record.result], ['succeeded', '"good"'])
    assert.deepEqual(await bench.coordination.claimOnce('k', 'another'), { kind: 'done', result: '"good"', seal: null })
    assert.deepEqual(await written(bench), ['one'])
    assert.equal((await bench.store.counts())[0]?.counts.running, 0)
  },
  'an error of the function is thrown unchanged, and nothing is written': async (bench) => {
    const lease = await running(bench)
    const failure = new RangeError('no')
    const fails = work(function* (tx) {
      yield* write(tx, 'lost')
      throw failure
    })
    await assert.rejects(bench.transactions.complete(lease.token, fails), (thrown) => thrown === failure)
    assert.equal((await bench.record(lease.envelope.id)).state, 'running')
    assert.equal(await bench.transactions.complete(lease.token, writes(bench, lease, 'kept')), 'applied')
    assert.deepEqual(await written(bench), ['kept'])
  },
  'a parent whose child has failed is dead, and its writes are rolled back': async (bench) => {
    const { parent, children } = await runningParent(bench, ['one'])
    await die(bench, children[0] as string)
    assert.equal(await bench.transactions.complete(parent.token, writes(bench, parent, 'undone')), 'failed')
    assert.equal((await bench.record(parent.envelope.id)).state, 'dead')
    assert.deepEqual(await written(bench), [])
  },
  'a parent whose children have not ended keeps its writes and waits for them': async (bench) => {
    const { parent, children } = await runningParent(bench, ['one'])
    assert.equal(await bench.transactions.complete(parent.token, writes(bench, parent, 'kept')), 'blocked')
    await succeed(bench, children[0] as string)
    assert.equal((await bench.record(parent.envelope.id)).state, 'succeeded')
    assert.deepEqual(await written(bench), ['kept'])
  },
  'a lost lease writes nothing, and its function is not called': async (bench) => {
    const lease = await running(bench)
    await bench.clock.advance(1_000)
    await bench.backend.reap(3)
    let calls = 0
    const counted = (tx: WorkTransaction) => {
      calls++
      return writes(bench, lease, 'lost')(tx)
    }
    assert.equal(await bench.transactions.complete(lease.token, counted), 'lost')
    assert.equal(await bench.transactions.complete('nothing', counted), 'lost')
    assert.equal(calls, 0)
    await bench.settle(bench.done(await bench.claimOne()))
    assert.deepEqual(await written(bench), [])
  },
  'a lease ends once: the second transaction is lost': async (bench) => {
    const lease = await running(bench)
    assert.equal(await bench.transactions.complete(lease.token, writes(bench, lease, 'one')), 'applied')
    assert.equal(await bench.transactions.complete(lease.token, writes(bench, lease, 'two')), 'lost')
    assert.deepEqual(await written(bench), ['one'])
  },
  'the transaction ends after its function, and cannot be ended inside it': async (bench) => {
    const lease = await running(bench)
    let kept: WorkTransaction | undefined
    for (const control of ['COMMIT', ' rollback', '-- now\nCOMMIT', '/* now */ BEGIN', 'SAVEPOINT x']) {
      const ends = work(function* (tx) {
        yield* write(tx, 'half')
        kept = tx
        yield* wait<unknown>(tx.run(control))
        return bench.done(lease)
      })
      await assert.rejects(bench.transactions.complete(lease.token, ends), { code: 'DELIVERY_INVALID' }, control)
    }
    await assert.rejects(async () => kept?.run('INSERT INTO written (value) VALUES (1)'), { code: 'DELIVERY_INVALID' })
    await bench.transactions.complete(lease.token, () => bench.done(lease))
    assert.deepEqual(await written(bench), [])
  },
  'jobs sent in the transaction are stored with its commit, and not without it': async (bench) => {
    const lease = await running(bench)
    const sends = (ending: () => Settlement) =>
      work(function* (tx) {
        const queue = yield* wait(bench.transactions.join(tx))
        const [receipt] = yield* wait(queue.send([bench.envelope({ job: 'next', uniqueKey: 'k' })]))
        assert.equal(receipt?.stored, true)
        return ending()
      })
    const fail = () => {
      throw new RangeError('no')
    }
    await assert.rejects(bench.transactions.complete(lease.token, sends(fail)), RangeError)
    await bench.assertNothingClaimable({ jobs: [{ job: 'next', concurrency: null }] })
    const done = sends(() => bench.done(lease, { keep: true }))
    assert.equal(await bench.transactions.complete(lease.token, done), 'applied')
    assert.equal((await bench.claimedIds({ jobs: [{ job: 'next', concurrency: null }] })).length, 1)
  },
  'transactions wait their turn among other work': async (bench) => {
    const count = 30
    await bench.send(...times(count, () => ({})))
    const leases = await bench.claim({ limit: count })
    const others = times(10, () => bench.backend.send(times(200, () => bench.envelope({ job: 'other' }))))
    const receipts = await Promise.all(
      leases.map((lease, index) => bench.transactions.complete(lease.token, writes(bench, lease, String(index)))),
    )
    await Promise.all(others)
    assert.deepEqual(new Set(receipts), new Set(['applied']))
    assert.equal((await written(bench)).length, count)
  },
}

export const completing: Group = {
  title: 'ending a job in a transaction',
  needs: ['store', 'coordination', 'transactions'],
  tests: Object.fromEntries(
    Object.entries(tests).map(([title, test]) => [
      title,
      async (bench: Bench) => {
        await prepare(bench)
        await test(bench)
      },
    ]),
  ),
}
