import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pingMysql } from './mysql.mjs'

/** @type {import('../engine.mjs').Engine} */
export const mariadb = {
  name: 'mariadb',
  title: 'MariaDB',
  variable: 'TREADLE_TEST_MARIADB_URL',
  example: 'mysql://user:password@127.0.0.1:3306/test',
  programs: [['mariadbd', 'mariadb-install-db']],
  debianPackage: 'mariadb-server',
  stopSignal: 'SIGTERM',
  url: (port) => `mysql://root@127.0.0.1:${port}/treadle`,
  prepare: ({ programs, folder }) => [
    programs['mariadb-install-db'],
    ...[
      '--no-defaults',
      `--datadir=${folder}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--skip-name-resolve',
    ],
  ],
  run: ({ programs, folder, port, durable }) => [
    programs.mariadbd,
    ...['--no-defaults', `--datadir=${folder}`, `--port=${port}`, '--bind-address=127.0.0.1'],
    ...[`--socket=${join(folder, 'socket')}`, `--pid-file=${join(folder, 'pid')}`, `--init-file=${firstStatements(folder)}`],
    ...['--skip-log-bin', '--skip-name-resolve', '--max-connections=300'],
    ...(durable ? ['--innodb-flush-log-at-trx-commit=1'] : withoutSync),
  ],
  ping: pingMysql,
}

// At 2 a commit is handed to the system before it is acknowledged, and so outlives a killed server, though not the machine.
const withoutSync = ['--innodb-flush-log-at-trx-commit=2', '--loose-innodb-flush-method=nosync', '--loose-debug-no-sync']

/** @param {string} folder */
function firstStatements(folder) {
  const path = join(folder, 'first-statements.sql')
  writeFileSync(path, 'CREATE DATABASE IF NOT EXISTS treadle;\n')
  return path
}
