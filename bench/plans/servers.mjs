// What PostgreSQL and MariaDB have in common.
import { backlogRow, thousands } from './rows.mjs'

/** Treadle beside a million jobs that wait and a million for a later day, all of its own kind and in its own queue. */
export function millionsRow(size) {
  const many = size(1_000_000)
  const title = `drain with ${thousands(many)} waiting and ${thousands(many)} future jobs`
  const settings = { count: size(20_000), passes: 3, concurrency: 100, at: ['rate', 'ahead', 'elsewhere'] }
  return backlogRow(title, { ready: many, future: many, finished: 0 }, settings)
}

/**
 * @param {readonly string[]} peers
 * @returns {import('../plan.mjs').Bar[]}
 */
export function latencyBars(peers) {
  return ['latency-one', 'latency-across'].flatMap((row) => [
    { row, of: 'treadle', against: peers, figure: 'p50', atMost: 1 },
    { row, of: 'treadle', against: peers, figure: 'p99', atMost: 1 },
  ])
}

/** @type {readonly import('../plan.mjs').Bar[]} */
export const backlogBars = /** @type {const} */ (['rate', 'ahead', 'elsewhere']).map((figure) => ({
  row: 'backlog',
  of: 'treadle, backlog',
  against: 'treadle',
  figure,
  atLeast: 0.9,
}))
