import { jobs, PermanentError } from 'treadle'

/** Fails for good: retrying cannot help with an expired card, so the five retries are not used. */
export const chargeCard = jobs
  .define('charge-card', async (_: { order: number }) => {
    throw new PermanentError('the card has expired')
  })
  .retries(5)
