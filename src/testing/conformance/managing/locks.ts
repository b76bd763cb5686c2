import assert from 'node:assert/strict'
import type { HeldLock, LockHolder } from '../../../queue/contract/contract.ts'
import type { Bench } from '../bench.ts'
import { times } from '../bench.ts'
import { oddName } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

const ttlMs = 60_000
const one: LockHolder = { owner: 'one', host: 'alpha', pid: 11 }
const two: LockHolder = { owner: 'two', host: 'beta', pid: 22 }

function lock(bench: Bench, holder: LockHolder, name = 'scheduler') {
  return bench.coordination.lock(name, holder, ttlMs)
}

async function assertLocked(bench: Bench, holder: LockHolder): Promise<void> {
  assert.deepEqual(await lock(bench, holder), { held: true })
}

/** What another owner sees of the lock. */
async function holderOf(bench: Bench, name = 'scheduler'): Promise<HeldLock> {
  const answer = await lock(bench, { owner: 'somebody else', host: 'gamma', pid: 99 }, name)
  assert.ok(!answer.held, 'somebody should have held the lock')
  return answer.by
}

export const locks: Group = {
  title: 'locks',
  needs: ['coordination'],
  tests: {
    'a lock that is held is refused to others, with the name of its holder (Y2, Y23)': async (bench) => {
      const since = bench.clock.now()
      await assertLocked(bench, one)
      await bench.clock.advance(5)
      assert.deepEqual(await lock(bench, two), { held: false, by: { ...one, since, expiresAt: since + ttlMs } })
      assert.deepEqual(await holderOf(bench), { ...one, since, expiresAt: since + ttlMs })
    },
    'its owner may take it again, which renews it and keeps its beginning (X31)': async (bench) => {
      const since = bench.clock.now()
      await assertLocked(bench, one)
      for (let renewal = 1; renewal <= 3; renewal++) {
        await bench.clock.advance(ttlMs - 1)
        await assertLocked(bench, one)
        assert.deepEqual(await holderOf(bench), { ...one, since, expiresAt: bench.clock.now() + ttlMs })
      }
    },
    'an expired lock is free, at its millisecond and not before': async (bench) => {
      await assertLocked(bench, one)
      await bench.clock.advance(ttlMs - 1)
      assert.equal((await lock(bench, two)).held, false)
      await bench.clock.advance(1)
      await assertLocked(bench, two)
      const since = bench.clock.now()
      assert.deepEqual(await holderOf(bench), { ...two, since, expiresAt: since + ttlMs })
      assert.equal((await lock(bench, one)).held, false)
    },
    'a refused attempt does not prolong the lock': async (bench) => {
      await assertLocked(bench, one)
      const { expiresAt } = await holderOf(bench)
      await bench.clock.advance(ttlMs / 2)
      assert.equal((await holderOf(bench)).expiresAt, expiresAt)
    },
    'only its owner frees a lock (Y3, Y22)': async (bench) => {
      await assertLocked(bench, one)
      assert.equal(await bench.coordination.unlock('scheduler', 'two'), false)
      assert.equal((await lock(bench, two)).held, false)
      assert.equal(await bench.coordination.unlock('scheduler', 'one'), true)
      await assertLocked(bench, two)
    },
    'a lock that was taken over is not freed by its former owner (Y3, Y22)': async (bench) => {
      await assertLocked(bench, one)
      await bench.clock.advance(ttlMs)
      await assertLocked(bench, two)
      assert.equal(await bench.coordination.unlock('scheduler', 'one'), false)
      assert.equal((await holderOf(bench)).owner, 'two')
    },
    'a lock that is not held, or no longer held, cannot be freed': async (bench) => {
      assert.equal(await bench.coordination.unlock('scheduler', 'one'), false)
      await assertLocked(bench, one)
      await bench.clock.advance(ttlMs)
      assert.equal(await bench.coordination.unlock('scheduler', 'one'), false)
      await assertLocked(bench, one)
      assert.equal(await bench.coordination.unlock('scheduler', 'one'), true)
      assert.equal(await bench.coordination.unlock('scheduler', 'one'), false)
    },
    'locks with different names are independent': async (bench) => {
      await assertLocked(bench, one)
      assert.deepEqual(await lock(bench, two, oddName), { held: true })
      assert.equal(await bench.coordination.unlock(oddName, 'one'), false)
      assert.deepEqual([(await holderOf(bench)).owner, (await holderOf(bench, oddName)).owner], ['one', 'two'])
    },
    'of ten simultaneous requests one gets the lock, and all learn of the same holder (Y22)': async (bench) => {
      const answers = await Promise.all(times(10, (index) => lock(bench, { owner: `owner ${index}`, host: 'alpha', pid: index })))
      assert.equal(answers.filter(({ held }) => held).length, 1)
      const winner = `owner ${answers.findIndex(({ held }) => held)}`
      assert.deepEqual(new Set(answers.flatMap((answer) => (answer.held ? [] : answer.by.owner))), new Set([winner]))
    },
    'of ten simultaneous requests for an expired lock one gets it (Y22)': async (bench) => {
      await assertLocked(bench, one)
      await bench.clock.advance(ttlMs)
      const answers = await Promise.all(times(10, (index) => lock(bench, { owner: `owner ${index}`, host: 'alpha', pid: index })))
      assert.equal(answers.filter(({ held }) => held).length, 1)
    },
  },
}
