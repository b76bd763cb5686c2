import { jobs } from 'treadle'

/** Put into the queue by the clock, every three seconds: one job for each instant, however many workers there are. */
export const heartbeat = jobs.define('heartbeat', async () => {}).cron('*/3 * * * * *')
