import type { Answer } from '../../core/answer.ts'
import {
  type Dialect,
  partialIndexes,
  type Reader,
  type ReadyJob,
  type ReadyPlace,
  type StateIndex,
  timeOfState,
} from '../sql/dialect.ts'
import { crowdedFrom } from '../sql/lanes/lane-numbers.ts'
import { stateNumber } from '../sql/rows/tables.ts'

/** Walks from lane to lane; each step is one index lookup. */
const readyLanes = `WITH RECURSIVE ready (lane) AS (
    SELECT * FROM (SELECT lane FROM {jobs} WHERE state = 0 AND lane < ${crowdedFrom} ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT (SELECT lane FROM {jobs} WHERE state = 0 AND lane > ready.lane AND lane < ${crowdedFrom} ORDER BY lane LIMIT 1) FROM ready WHERE ready.lane IS NOT NULL
  ) SELECT lane FROM ready WHERE lane IS NOT NULL`

export const sqliteDialect: Dialect = {
  kind: 'sqlite',
  isAlone: true,
  readyLanes,
  ...partialIndexes,
  inState,
  sumOf: (column) => `TOTAL(${column})`,
  wholeNumber: (sum) => `CAST(MIN(MAX(${sum}, ${-Number.MAX_SAFE_INTEGER}), ${Number.MAX_SAFE_INTEGER}) AS INTEGER)`,
  nowMs: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
  idAsText: 'id',
  isUnprepared: () => false,
  firstReady,
}

/** The planner uses a partial index only if the query repeats the index's condition verbatim. */
function inState(state: number): StateIndex {
  const isEnded = state >= stateNumber.succeeded
  return {
    from: '{jobs}',
    is: isEnded ? `state = ${state} AND state >= ${stateNumber.succeeded}` : `state = ${state}`,
    at: timeOfState(state),
  }
}

const first = 'SELECT id, run_at FROM {jobs} WHERE state = 0 AND lane = ? AND grp = ? ORDER BY run_at, id LIMIT ?'
const firstOfMany = `SELECT wanted.key AS place, jobs.id, jobs.run_at FROM json_each(?) AS wanted CROSS JOIN {jobs} AS jobs
  WHERE jobs.rowid IN (SELECT each.rowid FROM {jobs} AS each WHERE each.state = 0 AND each.lane = json_extract(wanted.value, '$[0]')
    AND each.grp = json_extract(wanted.value, '$[1]') ORDER BY each.run_at, each.id LIMIT ?)
  ORDER BY wanted.key, jobs.run_at, jobs.id`

function firstReady(reader: Reader, places: readonly ReadyPlace[], limit: number): Answer<readonly (readonly ReadyJob[])[]> {
  if (places.length === 0) return []
  if (places.length === 1) {
    const [{ lane, grp }] = places as readonly [ReadyPlace]
    return [reader.all<ReadyJob>(first, [lane, grp, limit]) as ReadyJob[]]
  }
  const wanted = JSON.stringify(places.map(({ lane, grp }) => [lane, grp]))
  const found = reader.all<ReadyJob & { readonly place: number }>(firstOfMany, [wanted, limit])
  const jobs: ReadyJob[][] = places.map(() => [])
  for (const { place, id, run_at } of found as (ReadyJob & { readonly place: number })[]) jobs[place]?.push({ id, run_at })
  return jobs
}
