import assert from 'node:assert/strict'
import type { Bench } from '../bench.ts'
import { until } from '../bench.ts'
import type { Group } from '../suite.ts'

/** Asserts that a change wakes watchers. */
async function assertWakes(bench: Bench, what: string, change: () => Promise<unknown>): Promise<void> {
  let wakes = 0
  const watch = bench.backend.watch(() => wakes++)
  await change()
  await until(() => wakes > 0, `${what} woke the watcher`)
  watch.close()
}

export const watching: Group = {
  title: 'watching',
  needs: [],
  tests: {
    'sending due work wakes every watcher': async (bench) => {
      const woken = new Set<string>()
      for (const name of ['one', 'two']) bench.backend.watch(() => woken.add(name))
      await bench.send({})
      await until(() => woken.size === 2, 'both watchers woke')
      await bench.claimOne()
    },
    'a closed watch is silent, even if closed twice': async (bench) => {
      let silent = 0
      const closed = bench.backend.watch(() => silent++)
      closed.close()
      closed.close()
      await assertWakes(bench, 'a send', () => bench.send({}))
      assert.equal(silent, 0)
    },
    'the same function may watch twice and stop once': async (bench) => {
      let wakes = 0
      const wake = () => wakes++
      const first = bench.backend.watch(wake)
      bench.backend.watch(wake)
      first.close()
      await bench.send({})
      await until(() => wakes > 0, 'the second watch woke')
    },
    'a watcher that claims when it wakes finds the work': async (bench) => {
      let found: readonly string[] = []
      const claims: Promise<unknown>[] = []
      const watch = bench.backend.watch(() => {
        claims.push(bench.claimedIds().then((ids) => (found = [...found, ...ids])))
      })
      const id = await bench.sendOne()
      await until(() => found.length > 0, 'the watcher claimed')
      watch.close()
      await Promise.all(claims)
      assert.deepEqual(found, [id])
    },
  },
}

export const watchingChanges: Group = {
  title: 'wake-ups after changes of stored jobs',
  needs: ['store'],
  tests: {
    'cancelling wakes, so that a running job learns of it soon': async (bench) => {
      const id = await bench.sendOne()
      await bench.claimOne()
      await assertWakes(bench, 'a cancellation', () => bench.store.cancel(id))
    },
    'resuming a queue wakes': async (bench) => {
      await bench.store.setPaused({ queue: 'default' }, true)
      await bench.send({})
      await assertWakes(bench, 'resuming', () => bench.store.setPaused({ queue: 'default' }, false))
    },
    'retrying wakes': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.dead(await bench.claimOne()))
      await assertWakes(bench, 'a replay', () => bench.store.retry([id]))
    },
    'rescheduling wakes': async (bench) => {
      const id = await bench.sendOne({ delayMs: 60_000 })
      await assertWakes(bench, 'a new time', () => bench.store.amend([{ id, runAt: bench.clock.now() }]))
    },
  },
}
