// Those that are measured, each behind the same few calls.

/**
 * A queue with one kind of job. Not every contestant has every call: the plan asks each for what it can do.
 *
 * @typedef {object} Queue
 * @property {(payload: object) => unknown} add durable, as the contestant understands it, when what it gives has resolved
 * @property {(payloads: readonly object[]) => unknown} addMany
 * @property {(payloads: readonly object[]) => unknown} [addManyForLater] not due before the measurement is over
 * @property {(concurrency: number, count: number) => Promise<void>} drain runs `count` waiting jobs and resolves when the last one is recorded as done
 * @property {() => void} [work] starts a worker that waits for jobs, with the contestant's default settings
 * @property {() => Promise<void>} [stop] ends the workers
 * @property {() => Promise<number>} [unfinished] how many jobs are due or running
 * @property {() => unknown} close
 */

/** @typedef {(folder: string, handler?: (payload: any) => Promise<void>) => Promise<Queue>} Open */

/** Loaded one at a time: a process that measures one contestant holds nothing of the others. */
const contestants = {
  treadle: async () => (await import('./treadle.mjs')).openTreadle,
  'treadle groups': async () => (await import('./treadle-groups.mjs')).openTreadleGroups,
  'treadle limits': async () => (await import('./treadle-limits.mjs')).openTreadleLimits,
  'plainjob NORMAL': async () => (await import('./plainjob.mjs')).openPlainjob('NORMAL'),
  'plainjob FULL': async () => (await import('./plainjob.mjs')).openPlainjob('FULL'),
  raw: async () => (await import('./raw.mjs')).openRaw,
  'treadle schedules': async () => (await import('./schedules.mjs')).treadleSchedules(),
  'croner schedules': async () => (await import('./schedules.mjs')).cronerSchedules(),
  'cron-parser schedules': async () => (await import('./schedules.mjs')).cronParserSchedules(),
}

/** @typedef {keyof typeof contestants} ContestantName */

/**
 * @param {ContestantName} name
 * @returns {Promise<Open | import('./schedules.mjs').Open>}
 */
export function contestant(name) {
  return contestants[name]()
}
