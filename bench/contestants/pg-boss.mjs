// pg-boss with what its documentation offers for speed: bulk inserts, batches, and no pause while batches come back full.
import { PgBoss } from 'pg-boss'
import { countedRuns } from './runs.mjs'

/** What was fastest of 1 to 10 workers with batches of 100 to 2,000. */
const fastest = { localConcurrency: 4, batchSize: 1_000, burstWhenBatchFull: true }

/**
 * @param {{ notify: boolean }} options with `notify` its workers are woken, and every dispatch costs more
 * @returns {import('./contestant.mjs').Open}
 */
export function openPgBoss({ notify }) {
  return async (url, handler) => {
    const runs = countedRuns(handler)
    const boss = new PgBoss({ connectionString: url, useListenNotify: notify })
    boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`))
    await boss.start()
    await boss.createQueue('bench', { notify })
    // A batch is one call of a handler, which is free to run all jobs of it at once, whatever the concurrency.
    const work = (options) => boss.work('bench', options, (batch) => Promise.all(batch.map(({ data }) => runs.run(data))))
    const stop = () => boss.offWork('bench')
    return {
      add: (payload) => boss.send('bench', payload),
      addMany: (payloads) =>
        boss.insert(
          'bench',
          payloads.map((data) => ({ data })),
        ),
      // Nothing tells when a batch is recorded but the end of its worker, which first finishes what it has in its hands.
      async drain(_concurrency, count) {
        const ran = runs.after(count)
        await work(fastest)
        await ran
        await stop()
      },
      work: () => work({}),
      stop,
      close: () => boss.stop(),
    }
  }
}
