// What is measured, of whom, at which size, and which bars the figures must reach: a plan for each engine.
import { beanstalkd } from './plans/beanstalkd.mjs'
import { mariadb } from './plans/mariadb.mjs'
import { postgres } from './plans/postgres.mjs'
import { redis } from './plans/redis.mjs'
import { sqlite } from './plans/sqlite.mjs'

/**
 * @typedef {object} Plan
 * @property {Record<string, string>} columns the title of each column, Treadle's first
 * @property {readonly string[]} packages the peers, whose versions belong to the figures
 * @property {(size: (count: number) => number) => Row[]} rows
 * @property {readonly Bar[]} bars
 *
 * A row of the figures: one measurement, done for several contestants.
 *
 * @typedef {object} Row
 * @property {string} id
 * @property {string} group what `--only` names
 * @property {string} title
 * @property {'rate' | 'latency' | 'backlog' | 'memory' | 'next' | 'isolation' | 'names'} figure what the measurement gives
 * @property {string} measure the module under measure/
 * @property {Record<string, Entry>} entries by the name of the column
 * @property {number} [rounds] where more would tell nothing new
 *
 * @typedef {object} Entry
 * @property {import('./contestants/contestant.mjs').ContestantName} contestant
 * @property {object} settings of the measurement
 *
 * @typedef {object} Bar
 * @property {string} row
 * @property {string} of the column that is judged
 * @property {string | readonly string[]} [against] the column it is divided by, or several, of which the best counts; without one the figure itself is judged
 * @property {'rate' | 'ahead' | 'elsewhere' | 'p50' | 'p99' | 'claim' | 'wake' | 'unique' | 'pattern' | 'status'} figure
 * @property {number} [atLeast]
 * @property {number} [atMost]
 * @property {number} [below]
 */

/** @type {Record<'sqlite' | 'postgres' | 'mariadb' | 'redis' | 'beanstalkd', Plan>} */
export const plans = { sqlite, postgres, mariadb, redis, beanstalkd }

/** @typedef {keyof typeof plans} EngineName */

export const engineNames = /** @type {EngineName[]} */ (Object.keys(plans))

/** In the order in which they are measured. */
export const groups = [...new Set(engineNames.flatMap((name) => plans[name].rows((count) => count).map(({ group }) => group)))]

/**
 * @param {Plan} plan
 * @param {{ quick: boolean, only: readonly string[] }} options
 * @returns {Row[]}
 */
export function rowsOf(plan, { quick, only }) {
  const size = (count) => (quick ? count / 10 : count)
  return plan.rows(size).filter(({ group }) => only.includes(group))
}
