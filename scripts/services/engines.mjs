import { beanstalkd } from './engines/beanstalkd.mjs'
import { mariadb } from './engines/mariadb.mjs'
import { mysql } from './engines/mysql.mjs'
import { postgres } from './engines/postgres.mjs'
import { redis } from './engines/redis.mjs'
import { valkey } from './engines/valkey.mjs'

export const engines = { postgres, mariadb, mysql, redis, valkey, beanstalkd }

/** @typedef {keyof typeof engines} EngineName */

export const engineNames = /** @type {EngineName[]} */ (Object.keys(engines))

/** What the tests use. Without the optional ones, the suites that need them are skipped. */
export const testServers = {
  names: /** @type {EngineName[]} */ (['postgres', 'mariadb']),
  optional: /** @type {EngineName[]} */ (['mysql', 'redis', 'valkey', 'beanstalkd']),
}

/** Programs that some tests start themselves, by the packages that bring them on Debian. Without them those tests are skipped. */
export const testPrograms = { pgbouncer: 'pgbouncer', chromium: 'chromium', promtool: 'prometheus' }

/** The variable with the path of the file that describes what was started, for whoever wants to stop and start it. */
export const descriptionVariable = 'TREADLE_TEST_SERVICES'

/**
 * The environment without anything that says where servers are.
 *
 * @param {NodeJS.ProcessEnv} env
 */
export function withoutServers(env) {
  const ours = [descriptionVariable, ...engineNames.map((name) => engines[name].variable)]
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.includes(name)))
}
