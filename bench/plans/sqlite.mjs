import {
  backlogRow,
  bulkRow,
  coldRow,
  drainRows,
  inFlightRow,
  latencyRows,
  namesBars,
  namesRows,
  oneByOneRow,
  sameFor,
  thousands,
} from './rows.mjs'

/** @type {import('../plan.mjs').Plan} */
export const sqlite = {
  columns: {
    treadle: 'Treadle (FULL)',
    'plainjob NORMAL': 'plainjob NORMAL',
    'plainjob FULL': 'plainjob FULL',
    raw: 'raw',
  },
  packages: ['plainjob', 'better-sqlite3', 'croner', 'cron-parser'],
  rows: (size) => [
    ...dispatchRows(size),
    ...drainRows((concurrency) => sameFor({ ...queues, ...raw }, { count: size(40_000), concurrency })),
    coldRow(sameFor({ ...queues, ...raw }, { count: size(20_000), concurrency: 10 })),
    ...latencyRows((from) => ({
      ...sameFor(['treadle'], { from, samples: size(300), warmUp: 20, longestPauseMs: 50 }),
      // It polls once a second, and so gives one sample a second.
      ...sameFor(['plainjob NORMAL'], { from, samples: size(30), warmUp: 1, longestPauseMs: 1_000 }),
    })),
    besideBacklogRow(size),
    ...limitRows(size),
    memoryRow(size),
    ...tickRows(size),
    ...scheduleRows(size),
    isolationRow(size),
    ...namesRows(size),
  ],
  bars: [
    ...namesBars,
    { row: 'one-by-one', of: 'treadle', against: 'plainjob FULL', figure: 'rate', atLeast: 0.9 },
    { row: 'in-flight', of: 'treadle', against: 'plainjob NORMAL', figure: 'rate', atLeast: 2 },
    { row: 'in-flight', of: 'treadle', against: 'plainjob FULL', figure: 'rate', atLeast: 10 },
    { row: 'bulk', of: 'treadle', against: 'plainjob NORMAL', figure: 'rate', atLeast: 1 },
    { row: 'bulk', of: 'treadle', against: 'plainjob FULL', figure: 'rate', atLeast: 1 },
    { row: 'bulk-500', of: 'treadle', against: 'plainjob NORMAL', figure: 'rate', atLeast: 0.8 },
    ...['drain-10', 'drain-100'].flatMap((row) => [
      /** @type {const} */ ({ row, of: 'treadle', against: 'plainjob NORMAL', figure: 'rate', atLeast: 4 }),
      /** @type {const} */ ({ row, of: 'treadle', against: 'plainjob FULL', figure: 'rate', atLeast: 12 }),
      /** @type {const} */ ({ row, of: 'treadle', against: 'raw', figure: 'rate', atLeast: 0.3 }),
    ]),
    { row: 'latency-one', of: 'treadle', figure: 'p50', below: 1 },
    { row: 'latency-across', of: 'treadle', figure: 'p50', below: 5 },
    { row: 'backlog', of: 'treadle, backlog', against: 'treadle', figure: 'rate', atLeast: 0.9 },
    { row: 'groups', of: 'treadle, 200 k waiting', against: 'treadle', figure: 'rate', atLeast: 0.8 },
    { row: 'unused-limits', of: 'treadle, limits on another job', against: 'treadle', figure: 'rate', atLeast: 0.95 },
    ...['next-often', 'next-daily', 'next-rare'].flatMap((row) => [
      /** @type {const} */ ({ row, of: 'treadle', against: 'croner', figure: 'rate', atLeast: 10 }),
      /** @type {const} */ ({ row, of: 'treadle', against: 'cron-parser', figure: 'rate', atLeast: 10 }),
    ]),
  ],
}

const queues = /** @type {const} */ ({
  treadle: 'treadle',
  'plainjob NORMAL': 'plainjob NORMAL',
  'plainjob FULL': 'plainjob FULL',
})
const raw = /** @type {const} */ ({ raw: 'raw SQLite' })

function dispatchRows(size) {
  return [
    oneByOneRow(sameFor(queues, { count: size(5_000) })),
    inFlightRow(sameFor(queues, { count: size(20_000), callers: 100 })),
    bulkRow(sameFor({ ...queues, ...raw }, { count: size(100_000), listLength: size(10_000) })),
    bulkRow(sameFor({ ...queues, ...raw }, { count: size(100_000), listLength: 500 }), 500),
  ]
}

function besideBacklogRow(size) {
  const many = size(200_000)
  const title = `drain with ${thousands(many)} future and ${thousands(many)} finished jobs`
  const settings = { count: size(20_000), passes: 3, concurrency: 100, at: ['rate'] }
  return backlogRow(title, { ready: 0, future: many, finished: many }, settings)
}

function limitRows(size) {
  const groups = { customers: 50, jobsEach: 20, passes: 5, concurrency: 50 }
  const unused = { count: size(40_000), concurrency: 100 }
  return [
    {
      id: 'groups',
      group: 'limits',
      title: 'drain of 50 customers beside a full one',
      figure: 'rate',
      measure: 'groups',
      entries: {
        treadle: { contestant: 'treadle groups', settings: { ...groups, waiting: 0 } },
        'treadle, 1 k waiting': { contestant: 'treadle groups', settings: { ...groups, waiting: 1_000 } },
        'treadle, 200 k waiting': { contestant: 'treadle groups', settings: { ...groups, waiting: size(200_000) } },
      },
    },
    {
      id: 'unused-limits',
      group: 'limits',
      title: 'drain',
      figure: 'rate',
      measure: 'drain',
      entries: {
        treadle: { contestant: 'treadle', settings: unused },
        'treadle, limits on another job': { contestant: 'treadle limits', settings: unused },
      },
    },
  ]
}

function memoryRow(size) {
  return {
    id: 'memory',
    group: 'memory',
    title: `heap growth per ${thousands(size(100_000))} jobs`,
    figure: 'memory',
    measure: 'memory',
    rounds: 1,
    entries: sameFor(['treadle'], { steps: 5, jobsPerStep: size(100_000) }),
  }
}

function tickRows(size) {
  const schedules = size(10_000)
  const row = (id, due, ticks, stored) => ({
    id,
    group: 'ticks',
    title: `a tick of ${thousands(schedules)} schedules${stored ? ' made at run time' : ''}, ${due} due`,
    figure: 'latency',
    measure: 'ticks',
    entries: sameFor(['treadle'], { schedules, due, ticks, warmUp: 3, stored }),
  })
  return [
    row('tick-none', 'none', 30, false),
    row('tick-none-stored', 'none', 30, true),
    row('tick-all', 'all', 10, false),
    row('tick-all-stored', 'all', 10, true),
  ]
}

function scheduleRows(size) {
  const row = (id, title, asking) => {
    const settings = { ...asking, lastingMs: size(2_000) }
    return {
      id,
      group: 'schedules',
      title,
      figure: 'next',
      measure: 'schedules',
      entries: {
        treadle: { contestant: 'treadle schedules', settings },
        croner: { contestant: 'croner schedules', settings },
        'cron-parser': { contestant: 'cron-parser schedules', settings },
      },
    }
  }
  return [
    row('next-often', 'next of */5 * * * * in UTC', {
      asked: { cron: '*/5 * * * *', timezone: 'UTC' },
      from: '2026-01-01T00:00:00Z',
      first: ['2026-01-01T00:05:00Z', '2026-01-01T00:10:00Z'],
      steps: 1_000,
    }),
    // Not at a time that a change of clocks skips or repeats: there each has a rule of its own.
    row('next-daily', 'next of 30 6 * * * in Paris', {
      asked: { cron: '30 6 * * *', timezone: 'Europe/Paris' },
      from: '2026-03-28T00:00:00Z',
      first: ['2026-03-28T05:30:00Z', '2026-03-29T04:30:00Z', '2026-03-30T04:30:00Z'],
      steps: 365,
    }),
    row('next-rare', 'next 29 February on a Monday', {
      asked: { cron: '0 0 29 2 *', timezone: 'UTC', dayOfWeek: 1 },
      from: '2026-01-01T00:00:00Z',
      first: ['2044-02-29T00:00:00Z', '2072-02-29T00:00:00Z', '2112-02-29T00:00:00Z'],
      steps: 3,
    }),
  ]
}

function isolationRow(size) {
  const entry = (kind, count) => ({ contestant: 'treadle', settings: { kind, count: size(count), concurrency: 2 } })
  return {
    id: 'isolation',
    group: 'isolation',
    title: 'empty handlers, two at a time',
    figure: 'isolation',
    measure: 'isolation',
    entries: { here: entry('here', 40_000), thread: entry('thread', 10_000), process: entry('process', 10_000) },
  }
}
