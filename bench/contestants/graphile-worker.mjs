// Graphile Worker as it comes, and with the batching of its page on performance.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { countedRuns } from './runs.mjs'

/** As many as on its page on performance. */
const connections = 25

/**
 * @param {{ localQueue: number | 'none' }} options with a local queue it fetches so many jobs at once, and ends them together
 * @returns {import('./contestant.mjs').Open}
 */
export function openGraphileWorker({ localQueue }) {
  const batching =
    localQueue === 'none' ? {} : { localQueue: { size: localQueue }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }
  return async (url, handler) => {
    // Read when it is loaded: with it, it does not even build the lines that the silent logger drops.
    process.env.NO_LOG_SUCCESS = '1'
    const { Logger, makeWorkerUtils, run } = await import('graphile-worker')
    const runs = countedRuns(handler)
    const logger = new Logger(() => report)
    const pool = newPool(url)
    const utils = await makeWorkerUtils({ pgPool: pool, logger })
    await utils.migrate()
    let runner
    const start = async (settings) => {
      const preset = { worker: { ...settings, ...batching } }
      runner = await run({ preset, pgPool: pool, logger, noHandleSignals: true, taskList: { bench: runs.run }, crontab: '' })
    }
    const stop = async () => {
      await runner?.stop()
      runner = undefined
    }
    return {
      add: (payload) => utils.addJob('bench', payload),
      addMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: 'bench', payload }))),
      // It tells of a job's end before that is in the database, so the database is asked: a job that has ended is deleted.
      async drain(concurrency, count) {
        const ran = runs.after(count)
        await start({ concurrentJobs: concurrency })
        await ran
        while ((await pool.query('SELECT 1 FROM graphile_worker._private_jobs LIMIT 1')).rowCount > 0) await pause(1)
      },
      work: () => start({}),
      stop,
      async close() {
        await stop()
        await utils.release()
        await pool.end()
      },
    }
  }
}

function newPool(url) {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  // It warns about a pool without these.
  pool.on('error', (error) => report('error', error.message))
  pool.on('connect', (client) => client.on('error', (error) => report('error', error.message)))
  return pool
}

function report(level, message) {
  if (level === 'error') process.stderr.write(`graphile-worker: ${message}\n`)
}
