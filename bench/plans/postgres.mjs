import { bulkRow, coldRow, drainRows, inFlightRow, latencyRows, namesBars, namesRows, oneByOneRow, sameFor } from './rows.mjs'
import { backlogBars, latencyBars, millionsRow } from './servers.mjs'

/** In the settings that their documentation gives for speed; the best of them is the one to beat. */
const peers = ['graphile', 'graphile batched', 'pg-boss', 'bullmq']

/** @type {import('../plan.mjs').Plan} */
export const postgres = {
  columns: {
    treadle: 'Treadle',
    graphile: 'Graphile',
    'graphile batched': 'Graphile batched',
    'graphile 2,000': 'Graphile 2,000',
    'pg-boss': 'pg-boss',
    bullmq: 'BullMQ',
    raw: 'raw',
  },
  packages: ['graphile-worker', 'pg-boss', 'bullmq', 'pg'],
  rows: (size) => [
    oneByOneRow(sameFor(['treadle', 'graphile', 'pg-boss', 'bullmq'], { count: size(2_000) })),
    inFlightRow({
      ...sameFor(['treadle'], { count: size(20_000), callers: 100 }),
      ...sameFor(['graphile', 'pg-boss', 'bullmq'], { count: size(5_000), callers: 100 }),
    }),
    ...[1_000, 10_000].map((listLength) =>
      bulkRow(
        sameFor(
          { treadle: 'treadle', graphile: 'graphile', 'pg-boss': 'pg-boss', bullmq: 'bullmq', raw: 'raw PostgreSQL' },
          { count: size(100_000), listLength },
        ),
        listLength,
      ),
    ),
    ...drainRows((concurrency) => ({
      ...sameFor(['treadle', 'graphile batched', 'graphile 2,000', 'pg-boss'], { count: size(40_000), concurrency }),
      ...sameFor({ raw: 'raw PostgreSQL' }, { count: size(40_000), concurrency }),
      // A tenth as fast, they need fewer jobs for as long a time.
      ...sameFor(['graphile', 'bullmq'], { count: size(8_000), concurrency }),
    })),
    coldRow(
      sameFor(
        { treadle: 'treadle', 'graphile batched': 'graphile batched', 'pg-boss': 'pg-boss', raw: 'raw PostgreSQL' },
        { count: size(20_000), concurrency: 10 },
      ),
    ),
    ...latencyRows((from) =>
      sameFor(
        {
          treadle: 'treadle',
          graphile: 'graphile',
          'graphile batched': 'graphile batched',
          'pg-boss': 'pg-boss notify',
          bullmq: 'bullmq',
        },
        { from, samples: size(300), warmUp: 20, longestPauseMs: 50 },
      ),
    ),
    millionsRow(size),
    ...namesRows(size),
  ],
  bars: [
    ...namesBars,
    { row: 'in-flight', of: 'treadle', against: peers, figure: 'rate', atLeast: 10 },
    { row: 'bulk-1000', of: 'treadle', against: peers, figure: 'rate', atLeast: 1.2 },
    { row: 'bulk-10000', of: 'treadle', against: peers, figure: 'rate', atLeast: 1.2 },
    ...['drain-10', 'drain-100'].flatMap((row) => [
      /** @type {const} */ ({ row, of: 'treadle', against: peers, figure: 'rate', atLeast: 1.2 }),
      /** @type {const} */ ({ row, of: 'treadle', against: 'raw', figure: 'rate', atLeast: 0.5 }),
    ]),
    ...latencyBars(peers),
    ...backlogBars,
  ],
}
