import { ask } from '../ask.mjs'

/** @type {import('../engine.mjs').Engine} */
export const redis = {
  name: 'redis',
  title: 'Redis',
  variable: 'TREADLE_TEST_REDIS_URL',
  example: 'redis://127.0.0.1:6379',
  programs: [['redis-server'], ['valkey-server']],
  debianPackage: 'redis-server',
  stopSignal: 'SIGTERM',
  url: (port) => `redis://127.0.0.1:${port}`,
  prepare: () => null,
  run: ({ programs, folder, port, durable }) => [
    programs['redis-server'] ?? programs['valkey-server'],
    ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
    // Without fsync an answered write is still in the file, and so outlives a killed server.
    ...['--appendonly', 'yes', '--appendfsync', durable ? 'always' : 'no'],
  ],
  ping: (url) => ask(url, 'PING\r\n', '+PONG'),
}
