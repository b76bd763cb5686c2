import { createConnection } from 'mysql2/promise'

/**
 * MySQL itself, not MariaDB: distributions have the one or the other, so it is not looked for among the installed programs.
 *
 * @type {import('../engine.mjs').Engine}
 */
export const mysql = {
  name: 'mysql',
  title: 'MySQL',
  variable: 'TREADLE_TEST_MYSQL_URL',
  example: 'mysql://user:password@127.0.0.1:3306/test',
  programs: [],
  debianPackage: null,
  stopSignal: 'SIGTERM',
  url: (port) => `mysql://root@127.0.0.1:${port}/treadle`,
  prepare: () => null,
  run: () => [],
  ping: pingMysql,
}

/** @param {string} url */
export async function pingMysql(url) {
  const connection = await createConnection({ uri: url, connectTimeout: 5_000 })
  await connection.end()
}
