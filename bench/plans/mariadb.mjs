import { bulkRow, coldRow, drainRows, inFlightRow, latencyRows, namesBars, namesRows, oneByOneRow, sameFor } from './rows.mjs'
import { backlogBars, latencyBars, millionsRow } from './servers.mjs'

const peers = ['sidequest', 'sidequest inline']

/** @type {import('../plan.mjs').Plan} */
export const mariadb = {
  columns: { treadle: 'Treadle', sidequest: 'Sidequest', 'sidequest inline': 'Sidequest inline', raw: 'raw' },
  packages: ['sidequest', '@sidequest/mysql-backend', 'mysql2'],
  rows: (size) => [
    oneByOneRow(sameFor(['treadle', 'sidequest'], { count: size(2_000) })),
    inFlightRow({
      ...sameFor(['treadle'], { count: size(20_000), callers: 100 }),
      ...sameFor(['sidequest'], { count: size(5_000), callers: 100 }),
    }),
    bulkRow(
      {
        ...sameFor({ treadle: 'treadle', raw: 'raw MariaDB' }, { count: size(100_000), listLength: 1_000 }),
        ...sameFor(['sidequest'], { count: size(10_000), listLength: 1_000 }),
      },
      1_000,
    ),
    // Sidequest has no call for a list, and so no other figure for longer ones.
    bulkRow(sameFor({ treadle: 'treadle', raw: 'raw MariaDB' }, { count: size(100_000), listLength: 10_000 }), 10_000),
    ...drainRows((concurrency) => ({
      ...sameFor({ treadle: 'treadle', raw: 'raw MariaDB' }, { count: size(40_000), concurrency }),
      ...sameFor(['sidequest'], { count: size(1_000), concurrency }),
      ...sameFor(['sidequest inline'], { count: size(4_000), concurrency }),
    })),
    coldRow(sameFor({ treadle: 'treadle', raw: 'raw MariaDB' }, { count: size(20_000), concurrency: 10 })),
    ...latencyRows((from) => ({
      ...sameFor(['treadle'], { from, samples: size(300), warmUp: 20, longestPauseMs: 50 }),
      // It polls ten times a second.
      ...sameFor(['sidequest inline'], { from, samples: size(300), warmUp: 10, longestPauseMs: 100 }),
    })),
    millionsRow(size),
    ...namesRows(size),
  ],
  bars: [
    ...namesBars,
    { row: 'in-flight', of: 'treadle', against: peers, figure: 'rate', atLeast: 20 },
    { row: 'bulk-1000', of: 'treadle', against: peers, figure: 'rate', atLeast: 20 },
    ...['drain-10', 'drain-100'].flatMap((row) => [
      /** @type {const} */ ({ row, of: 'treadle', against: peers, figure: 'rate', atLeast: 20 }),
      /** @type {const} */ ({ row, of: 'treadle', against: 'raw', figure: 'rate', atLeast: 0.5 }),
    ]),
    ...latencyBars(peers),
    ...backlogBars,
  ],
}
