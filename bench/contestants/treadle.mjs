// Treadle as it comes: SQLite with synchronous=FULL, signed envelopes, and a history of finished jobs.
import { join } from 'node:path'
import { treadle } from '../../dist/index.js'

/** @type {import('./contestant.mjs').Open} */
export async function openTreadle(folder, handler = async () => {}, options = {}, defineMore = () => {}) {
  const jobs = treadle(`sqlite:${join(folder, 'treadle.db')}`, options)
  const job = jobs.define('bench', handler)
  defineMore(jobs)
  await jobs.open()
  return {
    add: (payload) => job.dispatch(payload),
    addMany: (payloads) => jobs.dispatchMany(job, payloads),
    addManyForLater: (payloads) => jobs.dispatchMany(job, payloads, { delay: '7d' }),
    // Not run(), which also looks for more when it is done: this ends where the others end, with the last job on disk.
    async drain(concurrency, count) {
      await new Promise((resolve) => {
        let left = count
        const unlisten = jobs.on('job:succeeded', () => {
          if (--left > 0) return
          unlisten()
          resolve(undefined)
        })
        void jobs.work({ concurrency })
      })
    },
    work: () => void jobs.work(),
    stop: () => jobs.stop(),
    async unfinished() {
      const lanes = await (await jobs.store()).counts()
      return lanes.reduce((sum, { counts }) => sum + counts.ready + counts.running, 0)
    },
    close: () => jobs.close(),
  }
}
