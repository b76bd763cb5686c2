// Sidequest with its MySQL backend. As it comes, its jobs run in threads of a second process; inline, in the process itself.
import { setTimeout as pause } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import { Sidequest } from 'sidequest'
import { countedRuns } from './runs.mjs'
import { BenchJob } from './sidequest-job.mjs'

/** With ten, as it comes, and a hundred jobs at once it has been seen to wait a minute for a connection. */
const pool = { min: 2, max: 50 }

const unfinished = `SELECT 1 FROM sidequest_jobs WHERE state IN ('waiting', 'claimed', 'running') LIMIT 1`

/**
 * @param {'second process' | 'inline'} runner
 * @returns {import('./contestant.mjs').Open}
 */
export function openSidequest(runner) {
  // Where all its slots are taken it sleeps for a whole interval before it looks again.
  const fastest = runner === 'inline' ? { jobPollingInterval: 1 } : {}
  return async (url, handler) => {
    const runs = countedRuns(handler)
    BenchJob.handler = runs.run
    const settings = {
      backend: { driver: '@sidequest/mysql-backend', config: { connection: url, pool } },
      logger: { level: 'error' },
      dashboard: { enabled: false },
      gracefulShutdown: false,
      ...(runner === 'inline' ? { fork: false, runner } : {}),
    }
    const connection = await createConnection(url)
    await Sidequest.configure(settings)
    // It can be configured once, and what stops it also takes the configuration away.
    const restart = async (options) => {
      await Sidequest.stop()
      await Sidequest.start({ ...settings, ...options })
    }
    const stop = async () => {
      await Sidequest.stop()
      await Sidequest.configure(settings)
    }
    const add = (payload) => Sidequest.build(BenchJob).enqueue(payload)
    return {
      add,
      // It has no call for many.
      addMany: (payloads) => Promise.all(payloads.map(add)),
      async drain(concurrency, count) {
        const ran = runs.after(count)
        await restart({ maxConcurrentJobs: concurrency, queues: [{ name: 'default', concurrency }], ...fastest })
        if (runner === 'inline') await ran
        while ((await connection.query(unfinished))[0].length > 0) await pause(10)
      },
      work: () => restart({}),
      stop,
      async close() {
        await Sidequest.stop()
        await connection.end()
      },
    }
  }
}
