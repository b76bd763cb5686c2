import assert from 'node:assert/strict'
import type { Group } from '../suite.ts'

export const closing: Group = {
  title: 'closing',
  needs: [],
  tests: {
    'after closing every call is refused with BACKEND_CLOSED': async (bench) => {
      const { backend } = bench
      const envelope = bench.envelope()
      const { store, coordination } = backend
      await backend[Symbol.asyncDispose]()
      const calls: readonly (() => Promise<unknown>)[] = [
        () => backend.send([envelope]),
        () => bench.lease(),
        () => backend.settle([]),
        () => backend.settle([{ token: 'x', kind: 'cancelled', keep: true }]),
        () => backend.begin(['x']),
        () => backend.extend(['x'], 1_000),
        () => backend.reap(3),
        ...(store === undefined
          ? []
          : [
              () => store.get('x'),
              () => store.list({ limit: 1 }),
              () => store.counts(),
              () => store.cancel('x'),
              () => store.amend([{ id: 'x', runAt: 0 }]),
              () => store.amend([{ id: 'x', expected: null, envelope }]),
              () => store.retry(['x']),
              () => store.holders(['x']),
              () => store.remove({ state: 'dead', limit: 1 }),
              () => store.report([{ token: 'x', progress: '1' }]),
              () => store.setPaused({ queue: 'x' }, true),
              () => store.setPaused({ queue: 'x' }, false),
              () => store.paused().then(({ queues }) => queues),
              () => store.holds('x', { jobs: [] }),
              () => store.schedules.register([]),
              () => store.schedules.enqueue([{ schedule: 's', at: 0, envelope }]),
              () => store.schedules.standings(),
              () => store.schedules.occurrences({ keys: [{ schedule: 's', at: 0 }] }),
              () => store.schedules.neighbours({ schedule: 's', at: 0 }),
              () => store.schedules.markSeen([{ schedule: 's', at: 0 }]),
              () => store.schedules.occurrences({ schedule: 's', upTo: 0, limit: 1 }),
              () => store.schedules.skipWaiting({ schedule: 's', before: 0, unseenOnly: false, why: 'late' }),
              () => store.schedules.change('s', 'pause'),
              () => store.schedules.change('s', 'resume'),
              () => store.schedules.change('s', 'remove'),
              () => store.schedules.list(),
              () => store.sweep({ part: 'occurrences', before: 0, limit: 1 }),
              () => store.sweep({ part: 'keys', limit: 1 }),
              () => store.workers.leave('w'),
              () => store.workers.list(),
            ]),
        ...(coordination === undefined
          ? []
          : [
              () => coordination.claimOnce('k', 'x'),
              () => coordination.lock('l', { owner: 'x', host: 'h', pid: 1 }, 1_000),
              () => coordination.unlock('l', 'x'),
            ]),
      ]
      for (const call of calls) await assert.rejects(call, isClosed, String(call))
    },
    'closing twice is the same as once': async (bench) => {
      await bench.backend[Symbol.asyncDispose]()
      await bench.backend[Symbol.asyncDispose]()
    },
    'calls made before closing are still answered': async (bench) => {
      const sent = bench.backend.send([bench.envelope()])
      const closed = bench.backend[Symbol.asyncDispose]()
      assert.equal((await sent)[0]?.stored, true)
      await closed
    },
    'a closed backend wakes nobody': async (bench) => {
      let wakes = 0
      bench.backend.watch(() => wakes++)
      await bench.backend[Symbol.asyncDispose]()
      await assert.rejects(bench.backend.send([bench.envelope()]), isClosed)
      await bench.clock.advance(60_000)
      assert.equal(wakes, 0)
    },
  },
}

function isClosed(thrown: unknown): boolean {
  assert.equal((thrown as { code?: unknown }).code, 'BACKEND_CLOSED', `refused with ${String(thrown)}`)
  return true
}
