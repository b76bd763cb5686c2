import { redis } from './redis.mjs'

/**
 * Redis's sibling, which must behave alike.
 *
 * @type {import('../engine.mjs').Engine}
 */
export const valkey = {
  ...redis,
  name: 'valkey',
  title: 'Valkey',
  variable: 'TREADLE_TEST_VALKEY_URL',
  example: 'redis://127.0.0.1:6379',
  programs: [['valkey-server']],
  debianPackage: 'valkey-server',
  mayBeUnpacked: true,
}
