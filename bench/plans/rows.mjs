// The rows that every engine has, each for contestants and sizes of its own.

/**
 * @typedef {Record<string, import('../plan.mjs').Entry>} Entries
 * @typedef {import('../contestants/contestant.mjs').ContestantName} ContestantName
 */

/**
 * The same measurement of each of them.
 *
 * @param {readonly ContestantName[] | Record<string, ContestantName>} contestants a list, or by the names of their columns
 * @param {object} settings
 * @returns {Entries}
 */
export function sameFor(contestants, settings) {
  const columns = Array.isArray(contestants) ? contestants.map((name) => [name, name]) : Object.entries(contestants)
  return Object.fromEntries(columns.map(([column, contestant]) => [column, { contestant, settings }]))
}

/** @param {Entries} entries */
export function oneByOneRow(entries) {
  const title = 'dispatch one by one'
  return { id: 'one-by-one', group: 'one-by-one', title, figure: 'rate', measure: 'one-by-one', entries }
}

/** @param {Entries} entries */
export function inFlightRow(entries) {
  const title = 'dispatch, 100 in flight'
  return { id: 'in-flight', group: 'in-flight', title, figure: 'rate', measure: 'in-flight', entries }
}

/**
 * @param {Entries} entries
 * @param {number} [listLength] where there are several such rows
 */
export function bulkRow(entries, listLength) {
  const id = listLength === undefined ? 'bulk' : `bulk-${listLength}`
  const title = listLength === undefined ? 'dispatch in bulk' : `dispatch in lists of ${listLength.toLocaleString('en-US')}`
  return { id, group: 'bulk', title, figure: 'rate', measure: 'bulk', entries }
}

/** @param {(concurrency: number) => Entries} entriesOf */
export function drainRows(entriesOf) {
  return [10, 100].map((concurrency) => {
    const title = `drain, concurrency ${concurrency}`
    return {
      id: `drain-${concurrency}`,
      group: 'drain',
      title,
      figure: 'rate',
      measure: 'drain',
      entries: entriesOf(concurrency),
    }
  })
}

/** @param {Entries} entries */
export function coldRow(entries) {
  const title = 'drain by a fresh process, concurrency 10'
  return { id: 'cold', group: 'cold', title, figure: 'rate', measure: 'cold', entries }
}

/** @param {(from: 'this process' | 'another process') => Entries} entriesOf */
export function latencyRows(entriesOf) {
  const row = (id, title, from) => ({
    id,
    group: 'latency',
    title,
    figure: 'latency',
    measure: 'latency',
    entries: entriesOf(from),
  })
  return [
    row('latency-one', 'idle latency, one process', 'this process'),
    row('latency-across', 'idle latency, from another process', 'another process'),
  ]
}

/**
 * Treadle beside a backlog, and beside none.
 *
 * @param {string} title
 * @param {{ ready: number, future: number, finished: number }} backlog
 * @param {object} settings
 */
export function backlogRow(title, backlog, settings) {
  const entry = (amounts) => ({ contestant: 'treadle', settings: { ...settings, ...amounts } })
  return {
    id: 'backlog',
    group: 'backlog',
    title,
    figure: 'backlog',
    measure: 'backlog',
    entries: { treadle: entry({ ready: 0, future: 0, finished: 0 }), 'treadle, backlog': entry(backlog) },
  }
}

export function thousands(count) {
  return `${(count / 1000).toLocaleString('en-US')} k`
}

const namedKinds = { names: 'names, waiting', 'ended names': 'names, ended', queues: 'queues, waiting' }

/** What one job costs beside very many others that each have a name or a queue of their own. */
export function namesRows(size) {
  return Object.entries(namedKinds).map(([kind, title]) => ({
    id: `names-${kind.replace(' ', '-')}`,
    group: 'names',
    title: `beside ${size(100_000).toLocaleString('en-US')} ${title}`,
    figure: 'names',
    measure: 'names',
    entries: { treadle: { contestant: 'treadle', settings: { kind, crowd: size(100_000), samples: size(200) } } },
    rounds: 1,
  }))
}

/** At most twice what it costs alone. */
export const namesBars = Object.keys(namedKinds).flatMap((kind) =>
  ['claim', 'wake', 'unique', 'pattern', 'status'].map((figure) => ({
    row: `names-${kind.replace(' ', '-')}`,
    of: 'treadle',
    figure,
    atMost: 2,
  })),
)
