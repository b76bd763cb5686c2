// Treadle with limits of every kind, none of them on the job that is measured.
import { openTreadle } from './treadle.mjs'

const queues = { elsewhere: { concurrency: 5, rate: { limit: 100, per: '1m' } } }

/** @type {import('./contestant.mjs').Open} */
export function openTreadleLimits(folder, handler) {
  return openTreadle(folder, handler, { queues }, (jobs) =>
    jobs
      .define('limited', async () => {})
      .queue('elsewhere')
      .concurrency(3)
      .rate(10, '1s')
      .group(({ customer }) => customer, { concurrency: 1, rate: { limit: 10, per: '1m' } }),
  )
}
