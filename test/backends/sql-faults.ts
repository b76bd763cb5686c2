/** Runs a statement past Treadle. Tables are written as `{jobs}`. */
export type Query = <Row>(sql: string) => Promise<Row[]>

/** What is wrong with a queue: counts that are not those of the rows, rows without all that a job needs, rows of jobs that are gone. */
export async function faultsIn(query: Query): Promise<readonly string[]> {
  return [...(await countFaults(query)), ...(await groupFaults(query)), ...(await linkFaults(query)), ...(await rowFaults(query))]
}

interface CountRow {
  readonly lane: number
  readonly state: number
  readonly jobs: number | string
}

async function countFaults(query: Query): Promise<readonly string[]> {
  const kept = await query<CountRow>('SELECT lane, state, SUM(jobs) AS jobs FROM {counts} GROUP BY lane, state')
  const real = await query<CountRow>('SELECT lane, state, COUNT(*) AS jobs FROM {jobs} GROUP BY lane, state')
  const differences = new Map<string, number>()
  const add = ({ lane, state }: CountRow, jobs: number) => {
    const key = `lane ${lane}, state ${state}`
    differences.set(key, (differences.get(key) ?? 0) + jobs)
  }
  for (const row of kept) add(row, Number(row.jobs))
  for (const row of real) add(row, -Number(row.jobs))
  return [...differences].filter(([, jobs]) => jobs !== 0).map(([place, jobs]) => `${place} keeps ${jobs} too many`)
}

async function groupFaults(query: Query): Promise<readonly string[]> {
  const forgotten = await query<{ lane: number; grp: string }>(
    `SELECT DISTINCT jobs.lane, jobs.grp FROM {jobs} AS jobs JOIN {lanes} AS lanes ON lanes.lane = jobs.lane
     LEFT JOIN {groups} AS waiting ON waiting.lane = jobs.lane AND waiting.grp = jobs.grp
     WHERE jobs.state = 0 AND lanes.grouped = 1 AND waiting.lane IS NULL`,
  )
  return forgotten.map(({ lane, grp }) => `group ${grp} of lane ${lane} has ready jobs, and nobody knows`)
}

async function linkFaults(query: Query): Promise<readonly string[]> {
  const orphans = [
    ...(await query<{ orphan: string }>('SELECT root AS orphan FROM {links} WHERE id NOT IN (SELECT id FROM {jobs})')),
    ...(await query<{ orphan: string }>('SELECT target AS orphan FROM {edges} WHERE waiter NOT IN (SELECT id FROM {jobs})')),
    ...(await query<{ orphan: string }>('SELECT root AS orphan FROM {gone} WHERE root NOT IN (SELECT root FROM {links})')),
  ]
  return orphans.map(({ orphan }) => `the database keeps what belongs to jobs that are gone: ${orphan}`)
}

async function rowFaults(query: Query): Promise<readonly string[]> {
  const half = await query<{ id: string }>(
    `SELECT id FROM {jobs} WHERE (state = 3) <> (lease_until IS NOT NULL) OR (state >= 4) <> (finished_at IS NOT NULL)
       OR (state = 3 AND token IS NULL) OR (state >= 4 AND held_key IS NOT NULL)`,
  )
  return half.map(({ id }) => `job ${id} is not complete`)
}
