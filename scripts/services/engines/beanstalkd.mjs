import { ask } from '../ask.mjs'

/** @type {import('../engine.mjs').Engine} */
export const beanstalkd = {
  name: 'beanstalkd',
  title: 'Beanstalkd',
  variable: 'TREADLE_TEST_BEANSTALKD_URL',
  example: 'beanstalkd://127.0.0.1:11300',
  programs: [['beanstalkd']],
  debianPackage: 'beanstalkd',
  stopSignal: 'SIGTERM',
  url: (port) => `beanstalkd://127.0.0.1:${port}`,
  prepare: () => null,
  run: ({ programs, folder, port, durable }) => [
    programs.beanstalkd,
    ...['-l', '127.0.0.1', '-p', `${port}`, '-b', folder],
    ...(durable ? ['-f', '0'] : ['-F']),
  ],
  ping: (url) => ask(url, 'stats\r\n', 'OK '),
}
