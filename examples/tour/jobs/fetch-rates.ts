import { jobs } from 'treadle'

/** Fails twice and then succeeds, as a service does that is down for a moment. */
export const fetchRates = jobs
  .define('fetch-rates', async (_: { base: string }, ctx) => {
    if (ctx.attempt < 3) throw new Error('503 Service Unavailable')
    return { EUR: 1, USD: 1.09 }
  })
  .retries(4, { strategy: 'exponential', base: '500ms', jitter: 'none' })
