import assert from 'node:assert/strict'
import type { WorkerPresence, WorkerRecord } from '../../../queue/contract/stores/worker-store.ts'
import { type Bench, times } from '../bench.ts'
import { oddName } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

const ttlMs = 30_000

function worker(bench: Bench, owner: string, said: Partial<WorkerPresence> = {}): WorkerPresence {
  return {
    owner,
    host: 'alpha',
    pid: 11,
    version: '1.2.3',
    startedAt: bench.clock.now(),
    queues: null,
    jobs: ['mail', 'work'],
    concurrency: 10,
    allowed: 10,
    running: 0,
    breaker: 'closed',
    scheduler: null,
    ...said,
  }
}

function announce(bench: Bench, presence: WorkerPresence): Promise<void> {
  return bench.store.workers.announce(presence, ttlMs)
}

async function owners(bench: Bench): Promise<readonly string[]> {
  return (await bench.store.workers.list()).map(({ owner }) => owner)
}

export const presence: Group = {
  title: 'presence of workers',
  needs: ['store'],
  tests: {
    'a worker that registers is listed with its details and when it was last seen': async (bench) => {
      const said = worker(bench, oddName, {
        queues: ['mail', oddName],
        jobs: [oddName],
        allowed: 4,
        running: 3,
        breaker: 'half-open',
        scheduler: { lastTickAt: bench.clock.now() - 5 },
      })
      await announce(bench, said)
      const now = bench.clock.now()
      assert.deepEqual(await bench.store.workers.list(), [{ ...said, seenAt: now, expiresAt: now + ttlMs }])
    },
    'a worker that registers again is still one worker, with its latest details': async (bench) => {
      const first = worker(bench, 'one')
      await announce(bench, first)
      await bench.clock.advance(ttlMs / 3)
      const changes = { jobs: ['more', 'mail'], running: 7, scheduler: { lastTickAt: null } }
      await announce(bench, { ...first, ...changes })
      const now = bench.clock.now()
      assert.deepEqual(await bench.store.workers.list(), [{ ...first, ...changes, seenAt: now, expiresAt: now + ttlMs }])
    },
    'a worker that is silent for too long is removed, at its millisecond and not before (demands 3, 13)': async (bench) => {
      await announce(bench, worker(bench, 'one'))
      await bench.clock.advance(ttlMs - 1)
      assert.deepEqual(await owners(bench), ['one'])
      await bench.clock.advance(1)
      assert.deepEqual(await owners(bench), [])
    },
    'a worker that was considered dead and reports again is back, with its jobs': async (bench) => {
      const said = worker(bench, 'one')
      await announce(bench, said)
      await bench.clock.advance(2 * ttlMs)
      await announce(bench, worker(bench, 'two'))
      await announce(bench, said)
      const back = (await bench.store.workers.list()).find(({ owner }) => owner === 'one') as WorkerRecord
      assert.deepEqual(back.jobs, said.jobs)
      assert.equal(back.seenAt, bench.clock.now())
    },
    'a worker that leaves is removed at once, and the others stay': async (bench) => {
      await announce(bench, worker(bench, 'one'))
      await announce(bench, worker(bench, 'two'))
      await bench.store.workers.leave('one')
      assert.deepEqual(await owners(bench), ['two'])
      await bench.store.workers.leave('nobody')
      assert.deepEqual(await owners(bench), ['two'])
    },
    'workers are listed in the order in which they started': async (bench) => {
      const started = [3, 1, 2].map((place) => worker(bench, `worker ${place}`, { startedAt: place }))
      for (const each of started) await announce(bench, each)
      assert.deepEqual(await owners(bench), ['worker 1', 'worker 2', 'worker 3'])
    },
    'workers that register at the same time are all listed': async (bench) => {
      await Promise.all(times(50, (index) => announce(bench, worker(bench, `worker ${index}`))))
      assert.equal((await owners(bench)).length, 50)
    },
  },
}
