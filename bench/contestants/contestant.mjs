// Those that are measured, each behind the same few calls.
import { existsSync } from 'node:fs'

/**
 * A queue with one kind of job. Not every contestant has every call: the plan asks each for what it can do.
 *
 * @typedef {object} Queue
 * @property {(payload: object) => unknown} [add] durable, as the contestant understands it, when what it gives has resolved
 * @property {(payloads: readonly object[], options?: import('../../dist/index.js').DispatchOptions) => unknown} addMany only Treadle knows options
 * @property {(concurrency: number, count: number, queues?: readonly string[]) => Promise<void>} drain runs `count` waiting jobs and resolves when the last one is recorded as done
 * @property {() => unknown} [work] starts a worker that waits for jobs, with the contestant's default settings
 * @property {() => Promise<void>} [stop] ends the workers
 * @property {() => Promise<number>} [unfinished] how many jobs are due or running
 * @property {() => unknown} close
 */

/**
 * The place is a folder for whoever uses a file, and the URL of a database for all others. Nobody has used it before, but several
 * processes may open it one after the other.
 *
 * @typedef {(place: string, handler?: (payload: any) => Promise<void>) => Promise<Queue>} Open
 */

/**
 * Loaded one at a time: a process that measures one contestant holds nothing of the others. `needs` are packages of this folder,
 * which are not there where they could not be installed.
 */
const contestants = {
  treadle: { needs: [], load: async () => (await import('./treadle.mjs')).openTreadle },
  'treadle groups': { needs: [], load: async () => (await import('./treadle-groups.mjs')).openTreadleGroups },
  'treadle limits': { needs: [], load: async () => (await import('./treadle-limits.mjs')).openTreadleLimits },
  'treadle schedules': { needs: [], load: async () => (await import('./schedules.mjs')).treadleSchedules() },
  'plainjob NORMAL': {
    needs: ['plainjob', 'better-sqlite3'],
    load: async () => (await import('./plainjob.mjs')).openPlainjob('NORMAL'),
  },
  'plainjob FULL': {
    needs: ['plainjob', 'better-sqlite3'],
    load: async () => (await import('./plainjob.mjs')).openPlainjob('FULL'),
  },
  graphile: {
    needs: ['graphile-worker'],
    load: async () => (await import('./graphile-worker.mjs')).openGraphileWorker({ localQueue: 'none' }),
  },
  'graphile batched': {
    needs: ['graphile-worker'],
    load: async () => (await import('./graphile-worker.mjs')).openGraphileWorker({ localQueue: 500 }),
  },
  'graphile 2,000': {
    needs: ['graphile-worker'],
    load: async () => (await import('./graphile-worker.mjs')).openGraphileWorker({ localQueue: 2_000 }),
  },
  'pg-boss': { needs: ['pg-boss'], load: async () => (await import('./pg-boss.mjs')).openPgBoss({ notify: false }) },
  'pg-boss notify': { needs: ['pg-boss'], load: async () => (await import('./pg-boss.mjs')).openPgBoss({ notify: true }) },
  bullmq: { needs: ['bullmq'], load: async () => (await import('./bullmq.mjs')).openBullmq },
  'bullmq on Redis': { needs: ['bullmq'], load: async () => (await import('./bullmq.mjs')).openBullmqOnRedis },
  sidequest: { needs: ['sidequest'], load: async () => (await import('./sidequest.mjs')).openSidequest('second process') },
  'sidequest inline': { needs: ['sidequest'], load: async () => (await import('./sidequest.mjs')).openSidequest('inline') },
  'raw SQLite': { needs: [], load: async () => (await import('./raw-sqlite.mjs')).openRawSqlite },
  'raw PostgreSQL': { needs: [], load: async () => (await import('./raw-postgres.mjs')).openRawPostgres },
  'raw MariaDB': { needs: [], load: async () => (await import('./raw-mariadb.mjs')).openRawMariadb },
  'raw Redis': { needs: [], load: async () => (await import('./raw-redis.mjs')).openRawRedis },
  'raw Beanstalkd': { needs: [], load: async () => (await import('./raw-beanstalkd.mjs')).openRawBeanstalkd },
  'croner schedules': { needs: [], load: async () => (await import('./schedules.mjs')).cronerSchedules() },
  'cron-parser schedules': { needs: [], load: async () => (await import('./schedules.mjs')).cronParserSchedules() },
}

/** @typedef {keyof typeof contestants} ContestantName */

/**
 * @param {ContestantName} name
 * @returns {Promise<Open | import('./schedules.mjs').Open>}
 */
export function contestant(name) {
  return contestants[name].load()
}

/** What stands in the way of measuring it: the packages that it needs and that are not installed. @param {ContestantName} name */
export function missingPackages(name) {
  return contestants[name].needs.filter(
    (needed) => !existsSync(new URL(`../node_modules/${needed}/package.json`, import.meta.url)),
  )
}
