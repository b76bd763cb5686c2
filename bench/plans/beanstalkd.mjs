import { bulkRow, coldRow, drainRows, inFlightRow, latencyRows, oneByOneRow, sameFor } from './rows.mjs'

const both = /** @type {const} */ ({ treadle: 'treadle', raw: 'raw Beanstalkd' })
const alone = /** @type {const} */ ({ treadle: 'treadle' })

/** @type {import('../plan.mjs').Plan} */
export const beanstalkd = {
  columns: { treadle: 'Treadle', raw: 'raw' },
  packages: [],
  rows: (size) => [
    oneByOneRow(sameFor(both, { count: size(2_000) })),
    inFlightRow(sameFor(both, { count: size(20_000), callers: 100 })),
    bulkRow(sameFor(both, { count: size(100_000), listLength: 1_000 }), 1_000),
    ...drainRows((concurrency) => sameFor(both, { count: size(40_000), concurrency })),
    coldRow(sameFor(both, { count: size(20_000), concurrency: 10 })),
    ...latencyRows((from) => sameFor(alone, { from, samples: size(300), warmUp: 20, longestPauseMs: 50 })),
  ],
  bars: ['in-flight', 'bulk-1000', 'drain-10', 'drain-100'].map((row) => ({
    row,
    of: 'treadle',
    against: 'raw',
    figure: 'rate',
    atLeast: 0.5,
  })),
}
