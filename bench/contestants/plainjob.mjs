// plainjob on better-sqlite3. It chooses synchronous=NORMAL itself; FULL is set on the connection after that.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { better, defineQueue, defineWorker } from 'plainjob'

/**
 * @param {'NORMAL' | 'FULL'} synchronous
 * @returns {import('./contestant.mjs').Open}
 */
export function openPlainjob(synchronous) {
  return async (folder, handler) => {
    const database = new Database(join(folder, 'plainjob.db'))
    const queue = defineQueue({ connection: better(database), logger: silent })
    database.pragma(`synchronous = ${synchronous}`)
    // It hands over the text of the payload; parsing is only charged to it where the handler reads it.
    const processor = handler === undefined ? async () => {} : (job) => handler(JSON.parse(job.data))
    let workers = []
    let ended = []
    const start = (count, options) => {
      workers = Array.from({ length: count }, () => defineWorker('bench', processor, { queue, logger: silent, ...options }))
      ended = workers.map((worker) => worker.start())
    }
    // Its stop() does not wait for a worker that is between two jobs; the end of start() does.
    const stop = async () => {
      await Promise.all(workers.map((worker) => worker.stop()))
      await Promise.all(ended)
    }
    return {
      add: (payload) => queue.add('bench', payload),
      addMany: (payloads) => queue.addMany('bench', payloads),
      async drain(concurrency, count) {
        await new Promise((resolve) => {
          let left = count
          const onCompleted = () => {
            if (--left === 0) resolve(undefined)
          }
          start(concurrency, { onCompleted })
        })
      },
      work: () => start(1, {}),
      stop,
      async close() {
        await stop()
        queue.close()
      },
    }
  }
}

// Its default logger is the console, with several debug lines a job: nobody would run it so under load.
const silent = { error: (message) => process.stderr.write(`plainjob: ${message}\n`), warn() {}, info() {}, debug() {} }
