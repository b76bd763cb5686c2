import { jobs, PermanentError } from 'treadle'

/** Fails for good: no other attempt can mend a card that has expired, so none is made although five are left. */
export const chargeCard = jobs
  .define('charge-card', async (_: { order: number }) => {
    throw new PermanentError('the card has expired')
  })
  .retries(5)
