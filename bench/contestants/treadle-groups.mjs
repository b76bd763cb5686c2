// Treadle with customers that each may run one job at a time, and one of them whose job does not end.
import { join } from 'node:path'
import { treadle } from '../../dist/index.js'

/** The customer whose only slot stays taken. */
export const bigCustomer = 'big'

export async function openTreadleGroups(folder) {
  const jobs = treadle(`sqlite:${join(folder, 'treadle.db')}`)
  const job = jobs
    .define('bench', async ({ customer }, { signal }) => {
      if (customer === bigCustomer) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    .group(({ customer }) => customer, { concurrency: 1 })
  await jobs.open()
  return {
    addMany: (payloads) => jobs.dispatchMany(job, payloads),
    /** Until so many jobs of the others are done. */
    drain: (concurrency, count) =>
      new Promise((resolve) => {
        let left = count
        const unlisten = jobs.on('job:succeeded', () => {
          if (--left > 0) return
          unlisten()
          resolve(undefined)
        })
        void jobs.work({ concurrency, grace: '10ms' })
      }),
    stop: () => jobs.stop(),
    close: () => jobs.close(),
  }
}
