import pg from 'pg'

/** @type {import('../engine.mjs').Engine} */
export const postgres = {
  name: 'postgres',
  title: 'PostgreSQL',
  variable: 'TREADLE_TEST_POSTGRES_URL',
  example: 'postgres://user:password@127.0.0.1:5432/postgres',
  programs: [['postgres', 'initdb']],
  debianPackage: 'postgresql',
  // The "fast" shutdown: it ends open connections instead of waiting for them.
  stopSignal: 'SIGINT',
  url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
  prepare: ({ programs, folder }) => [
    programs.initdb,
    ...['--pgdata', folder, '--username', 'postgres', '--auth', 'trust'],
    ...['--encoding', 'UTF8', '--no-locale', '--no-sync', '--no-instructions'],
  ],
  run: ({ programs, folder, port, durable }) => [
    programs.postgres,
    ...['-D', folder, '-p', `${port}`],
    ...settings({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: 300,
      // Without it a commit is still handed to the system before it is acknowledged, and so outlives a killed server.
      fsync: durable ? 'on' : 'off',
    }),
  ],
  ping,
}

/** @param {Record<string, string | number>} values */
function settings(values) {
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** @param {string} url */
async function ping(url) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  await client.connect()
  await client.end()
}
