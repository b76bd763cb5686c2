import { bulkRow, coldRow, drainRows, inFlightRow, latencyRows, oneByOneRow, sameFor } from './rows.mjs'
import { latencyBars } from './servers.mjs'

const peers = ['bullmq']
const both = /** @type {const} */ ({ treadle: 'treadle', bullmq: 'bullmq on Redis' })
const all = /** @type {const} */ ({ ...both, raw: 'raw Redis' })

/** @type {import('../plan.mjs').Plan} */
export const redis = {
  columns: { treadle: 'Treadle', bullmq: 'BullMQ', raw: 'raw' },
  packages: ['bullmq', 'ioredis'],
  rows: (size) => [
    oneByOneRow(sameFor(both, { count: size(2_000) })),
    inFlightRow(sameFor(both, { count: size(20_000), callers: 100 })),
    ...[1_000, 10_000].map((listLength) => bulkRow(sameFor(all, { count: size(100_000), listLength }), listLength)),
    ...drainRows((concurrency) => sameFor(all, { count: size(40_000), concurrency })),
    coldRow(sameFor(all, { count: size(20_000), concurrency: 10 })),
    ...latencyRows((from) => sameFor(both, { from, samples: size(300), warmUp: 20, longestPauseMs: 50 })),
  ],
  bars: [
    { row: 'in-flight', of: 'treadle', against: peers, figure: 'rate', atLeast: 2 },
    { row: 'bulk-1000', of: 'treadle', against: peers, figure: 'rate', atLeast: 3 },
    { row: 'bulk-10000', of: 'treadle', against: peers, figure: 'rate', atLeast: 3 },
    ...['drain-10', 'drain-100'].flatMap((row) => [
      /** @type {const} */ ({ row, of: 'treadle', against: peers, figure: 'rate', atLeast: 3 }),
      /** @type {const} */ ({ row, of: 'treadle', against: 'raw', figure: 'rate', atLeast: 0.4 }),
    ]),
    ...latencyBars(peers),
  ],
}
