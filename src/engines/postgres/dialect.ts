import {
  bounded,
  type Dialect,
  partialIndexes,
  type Reader,
  type ReadyJob,
  type ReadyPlace,
  type StateIndex,
  timeOfState,
} from '../sql/dialect.ts'
import { crowdedFrom } from '../sql/lanes/lane-numbers.ts'

/** Walks from lane to lane; each step is one index lookup. */
const readyLanes = `WITH RECURSIVE ready AS (
    (SELECT lane FROM {jobs} WHERE state = 0 AND lane < ${crowdedFrom} ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT (SELECT lane FROM {jobs} WHERE state = 0 AND lane > ready.lane AND lane < ${crowdedFrom} ORDER BY lane LIMIT 1)
    FROM ready WHERE lane IS NOT NULL
  ) SELECT lane FROM ready WHERE lane IS NOT NULL`

export const postgresDialect: Dialect = {
  kind: 'postgres',
  readyLanes,
  ...partialIndexes,
  inState,
  sumOf: (column) => `SUM(${column})`,
  wholeNumber: (sum) => `CAST(${bounded(`COALESCE(${sum}, 0)`)} AS bigint)`,
  nowMs: "(date_part('epoch', clock_timestamp()) * 1000)::bigint",
  idAsText: 'CAST(id AS CHAR(36))',
  isUnprepared: () => false,
  firstReady,
}

function inState(state: number): StateIndex {
  return { from: '{jobs}', is: `state = ${state}`, at: timeOfState(state) }
}

interface PlacedJob extends ReadyJob {
  readonly place: number
}

async function firstReady(
  reader: Reader,
  places: readonly ReadyPlace[],
  limit: number,
): Promise<readonly (readonly ReadyJob[])[]> {
  if (places.length === 0) return []
  const found = await reader.all<PlacedJob>(
    `SELECT place, id, run_at FROM json_to_recordset(?::text::json) AS wanted(place integer, lane integer, grp text)
     CROSS JOIN LATERAL (
       SELECT id, run_at FROM {jobs} AS jobs WHERE state = 0 AND jobs.lane = wanted.lane AND jobs.grp = wanted.grp
       ORDER BY run_at, id LIMIT ?) AS first
     ORDER BY place, run_at, id`,
    [JSON.stringify(places.map(({ lane, grp }, place) => ({ place, lane, grp }))), limit],
  )
  const jobs: ReadyJob[][] = places.map(() => [])
  for (const { place, id, run_at } of found) jobs[place]?.push({ id, run_at })
  return jobs
}
