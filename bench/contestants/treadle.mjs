// Treadle as it comes: every commit on disk, signed envelopes, and a history of finished jobs.
import { join } from 'node:path'
import { treadle } from '../../dist/index.js'

/** @type {import('./contestant.mjs').Open} */
export async function openTreadle(place, handler = async () => {}, options = {}, defineMore = () => {}) {
  const jobs = place.includes('://')
    ? treadle(place, { signingKey: 'of the benchmark alone', ...options })
    : treadle(`sqlite:${join(place, 'treadle.db')}`, options)
  const job = jobs.define('bench', handler)
  defineMore(jobs)
  await jobs.open()
  return {
    add: (payload) => job.dispatch(payload),
    addMany: (payloads, dispatching) => jobs.dispatchMany(job, payloads, dispatching),
    // Not run(), which also looks for more when it is done: this ends where the others end, with the last job on disk.
    async drain(concurrency, count, queues) {
      await new Promise((resolve) => {
        let left = count
        const unlisten = jobs.on('job:succeeded', () => {
          if (--left > 0) return
          unlisten()
          resolve(undefined)
        })
        void jobs.work({ concurrency, ...(queues === undefined ? {} : { queues }) })
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
