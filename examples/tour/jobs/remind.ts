import { jobs } from 'treadle'

/** Dispatched with a delay: it waits in the database, not in a timer, so a restart does not lose it. */
export const remind = jobs.define('remind', async (reminder: { text: string }) => reminder.text).priority('high')
