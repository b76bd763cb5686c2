import type { Dialect, Reader, ReadyJob, ReadyPlace, StateIndex } from '../sql/dialect.ts'
import { crowdedFrom } from '../sql/lanes/lane-numbers.ts'
import { crowdIsReady, isGrouped, isListed, isRunning, stateNumber } from '../sql/rows/tables.ts'

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
  readyIn: (lane) => ({ from: '{jobs}', is: `state = 0 AND {jobs}.lane = ${lane}` }),
  crowd: { from: '{jobs}', is: crowdIsReady, at: 'crowd' },
  listed: { from: '{jobs}', is: `${isListed} AND {jobs}.lane = ? AND {jobs}.state = ? AND {jobs}.linked = ?` },
  grouped: { from: '{jobs}', is: `${isGrouped} AND {jobs}.grp = ? AND {jobs}.lane = ?` },
  inState,
  cancelling: { from: '{jobs}', is: `cancel = 1 AND ${isRunning}` },
  wholeNumber: 'bigint',
  nowMs: "(date_part('epoch', clock_timestamp()) * 1000)::bigint",
  idAsText: 'CAST(id AS CHAR(36))',
  isUnprepared: () => false,
  firstReady,
}

function inState(state: number): StateIndex {
  const at = state < stateNumber.running ? 'run_at' : state === stateNumber.running ? 'lease_until' : 'finished_at'
  return { from: '{jobs}', is: `state = ${state}`, at }
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
