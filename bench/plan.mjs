// What is measured, of whom, at which size, and which bars the figures must reach.

/**
 * A row of the figures: one measurement, done for several contestants.
 *
 * @typedef {object} Row
 * @property {string} id
 * @property {string} group what `--only` names
 * @property {string} title
 * @property {'rate' | 'latency' | 'memory' | 'next' | 'isolation'} figure what the measurement gives
 * @property {string} measure the module under measure/
 * @property {Record<string, Entry>} entries by the name of the column
 * @property {number} [rounds] where more would tell nothing new
 *
 * @typedef {object} Entry
 * @property {import('./contestants/contestant.mjs').ContestantName} contestant
 * @property {object} settings of the measurement
 *
 * @typedef {object} Bar
 * @property {string} row
 * @property {string} of the column that is judged
 * @property {string} [against] the column it is divided by; without one the figure itself is judged
 * @property {'rate' | 'p50'} figure
 * @property {number} [atLeast]
 * @property {number} [below]
 */

export const groups = [
  'one-by-one',
  'in-flight',
  'bulk',
  'drain',
  'latency',
  'backlog',
  'limits',
  'memory',
  'ticks',
  'schedules',
  'isolation',
]

/** @returns {Row[]} */
export function rowsOf({ quick, only }) {
  const size = (count) => (quick ? count / 10 : count)
  const rows = [
    ...enqueueRows(size),
    ...drainRows(size),
    ...latencyRows(size),
    backlogRow(size),
    ...limitRows(size),
    memoryRow(size),
    ...tickRows(size),
    ...scheduleRows(size),
    isolationRow(size),
  ]
  return rows.filter(({ group }) => only.includes(group))
}

/** @type {Bar[]} */
export const bars = [
  { row: 'one-by-one', of: 'treadle', against: 'plainjob FULL', figure: 'rate', atLeast: 0.9 },
  { row: 'in-flight', of: 'treadle', against: 'plainjob NORMAL', figure: 'rate', atLeast: 2 },
  { row: 'in-flight', of: 'treadle', against: 'plainjob FULL', figure: 'rate', atLeast: 10 },
  { row: 'bulk', of: 'treadle', against: 'plainjob NORMAL', figure: 'rate', atLeast: 1 },
  { row: 'bulk', of: 'treadle', against: 'plainjob FULL', figure: 'rate', atLeast: 1 },
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
]

function enqueueRows(size) {
  const queues = /** @type {const} */ (['treadle', 'plainjob NORMAL', 'plainjob FULL'])
  return [
    {
      id: 'one-by-one',
      group: 'one-by-one',
      title: 'dispatch one by one',
      figure: 'rate',
      measure: 'one-by-one',
      entries: sameFor(queues, { count: size(5_000) }),
    },
    {
      id: 'in-flight',
      group: 'in-flight',
      title: 'dispatch, 100 in flight',
      figure: 'rate',
      measure: 'in-flight',
      entries: sameFor(queues, { count: size(20_000), callers: 100 }),
    },
    {
      id: 'bulk',
      group: 'bulk',
      title: 'dispatch in bulk',
      figure: 'rate',
      measure: 'bulk',
      entries: sameFor([...queues, 'raw'], { count: size(100_000), listLength: size(10_000) }),
    },
  ]
}

function drainRows(size) {
  return [10, 100].map((concurrency) => ({
    id: `drain-${concurrency}`,
    group: 'drain',
    title: `drain, concurrency ${concurrency}`,
    figure: 'rate',
    measure: 'drain',
    entries: sameFor(['treadle', 'plainjob NORMAL', 'plainjob FULL', 'raw'], { count: size(40_000), concurrency }),
  }))
}

function latencyRows(size) {
  const treadle = { samples: size(300), warmUp: 20, longestPauseMs: 50 }
  // It polls once a second, and so gives one sample a second.
  const plainjob = { samples: size(30), warmUp: 1, longestPauseMs: 1_000 }
  const row = (id, title, from) => ({
    id,
    group: 'latency',
    title,
    figure: 'latency',
    measure: 'latency',
    entries: { ...sameFor(['treadle'], { from, ...treadle }), ...sameFor(['plainjob NORMAL'], { from, ...plainjob }) },
  })
  return [
    row('latency-one', 'idle latency, one process', 'this process'),
    row('latency-across', 'idle latency, from another process', 'another process'),
  ]
}

function backlogRow(size) {
  const settings = { count: size(20_000), passes: 3, concurrency: 100 }
  return {
    id: 'backlog',
    group: 'backlog',
    title: `drain with ${thousands(size(200_000))} future and ${thousands(size(200_000))} finished jobs`,
    figure: 'rate',
    measure: 'backlog',
    entries: {
      treadle: { contestant: 'treadle', settings: { ...settings, future: 0, finished: 0 } },
      'treadle, backlog': { contestant: 'treadle', settings: { ...settings, future: size(200_000), finished: size(200_000) } },
    },
  }
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
  const row = (id, due, ticks) => ({
    id,
    group: 'ticks',
    title: `a tick of ${thousands(schedules)} schedules, ${due} due`,
    figure: 'latency',
    measure: 'ticks',
    entries: sameFor(['treadle'], { schedules, due, ticks, warmUp: 3 }),
  })
  return [row('tick-none', 'none', 30), row('tick-all', 'all', 10)]
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

function sameFor(contestants, settings) {
  return Object.fromEntries(contestants.map((contestant) => [contestant, { contestant, settings }]))
}

function thousands(count) {
  return `${count / 1000} k`
}
