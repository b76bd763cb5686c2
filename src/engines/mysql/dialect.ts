import { bounded, type Dialect, type Reader, type ReadyJob, type ReadyPlace } from '../sql/dialect.ts'
import { crowdedFrom } from '../sql/lanes/lane-numbers.ts'
import { isUnprepared } from './connections/failure.ts'
import { byPlace, cancelling, crowd, grouped, inState, listed } from './schema/places.ts'

/**
 * One index lookup for each lane that is not crowded. Otherwise the optimizer would read all their ready jobs; a scalar subquery
 * leaves it no choice.
 */
const readyLanes = `SELECT lane FROM {lanes}
  WHERE lane < ${crowdedFrom} AND (SELECT 1 FROM ${byPlace} WHERE place = {lanes}.lane LIMIT 1) = 1`

export const mysqlDialect: Dialect = {
  kind: 'mysql',
  readyLanes,
  readyIn: (lane) => ({ from: byPlace, is: `place = ${lane}` }),
  crowd,
  listed,
  grouped,
  inState,
  cancelling,
  sumOf: (column) => `SUM(${column})`,
  wholeNumber: (sum) => `CAST(${bounded(`COALESCE(${sum}, 0)`)} AS SIGNED)`,
  // Does not depend on the time zone, in which some hours occur twice.
  nowMs: 'UNIX_TIMESTAMP() * 1000 + MICROSECOND(NOW(3)) DIV 1000',
  // A cast would have the connection's collation, which may not mix with that of the name columns.
  idAsText: 'id',
  isUnprepared,
  firstReady,
}

/** Maximum number of places per statement, which is planned for each of them. */
const mostPlaces = 100

async function firstReady(
  reader: Reader,
  places: readonly ReadyPlace[],
  limit: number,
): Promise<readonly (readonly ReadyJob[])[]> {
  const jobs: ReadyJob[][] = places.map(() => [])
  for (let from = 0; from < places.length; from += mostPlaces) {
    const some = places.slice(from, from + mostPlaces)
    for (const { nth, id, run_at } of await readPlaces(reader, some, limit)) jobs[from + nth]?.push({ id, run_at })
  }
  return jobs
}

interface PlacedJob extends ReadyJob {
  readonly nth: number
}

const firstOfPlace = `(SELECT ? AS nth, id, place_at AS run_at FROM ${byPlace}
  WHERE place = ? AND place_grp = ? ORDER BY place_at, id LIMIT ?)`

async function readPlaces(reader: Reader, places: readonly ReadyPlace[], limit: number): Promise<readonly PlacedJob[]> {
  const values = places.flatMap(({ lane, grp }, nth): (string | number)[] => [nth, lane, grp, limit])
  const found = await reader.all<PlacedJob>(places.map(() => firstOfPlace).join(' UNION ALL '), values)
  return found.sort((a, b) => a.nth - b.nth || a.run_at - b.run_at || (a.id < b.id ? -1 : 1))
}
