import { crowdedFrom } from '../../src/engines/sql/lanes/lane-numbers.ts'

/** Runs a statement past Treadle. Tables are written as `{jobs}`. */
export type Query = <Row>(sql: string) => Promise<Row[]>

/** What is wrong with a queue: counts that are not those of the rows, rows without all that a job needs, rows of jobs that are gone. */
export async function faultsIn(query: Query, kept: KeptIn = 'totals'): Promise<readonly string[]> {
  return [
    ...(await countFaults(query, kept)),
    ...(await groupFaults(query)),
    ...(await linkFaults(query)),
    ...(await rowFaults(query)),
  ]
}

/** Where sums are kept: as totals beside entries, or as the entries themselves. Those of all lanes together are those of lane 0. */
type KeptIn = 'totals' | 'counts'

interface CountRow {
  readonly lane: number
  readonly state: number
  readonly jobs: number | string
}

async function countFaults(query: Query, keptIn: KeptIn): Promise<readonly string[]> {
  const entries = await query<CountRow>('SELECT lane, state, SUM(jobs) AS jobs FROM {counts} WHERE lane > 0 GROUP BY lane, state')
  const totals = await query<CountRow>(`SELECT lane, state, jobs FROM {${keptIn}}`)
  const ofLanes = keptIn === 'counts' ? entries : [...entries, ...totals.filter(({ lane }) => lane > 0)]
  const ofAll = [...totals.filter(({ lane }) => Number(lane) === 0), ...(keptIn === 'counts' ? [] : entries)]
  const kept = [...ofLanes, ...ofAll.map((row) => ({ ...row, lane: 0 }))]
  const placed = await query<CountRow>('SELECT lane, state, COUNT(*) AS jobs FROM {jobs} GROUP BY lane, state')
  const real = [...placed, ...placed.map((row) => ({ ...row, lane: 0 }))]
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
  const faults = []
  for (const [fault, sql] of Object.entries(faultyLinks)) {
    for (const { id } of await query<{ id: string }>(sql)) faults.push(`${fault}: ${id}`)
  }
  return faults
}

const faultyLinks = {
  'the place of a job that is gone': 'SELECT id FROM {links} WHERE id NOT IN (SELECT id FROM {jobs})',
  'what a job that is gone waited for': 'SELECT target AS id FROM {edges} WHERE waiter NOT IN (SELECT id FROM {jobs})',
  'a workflow without jobs': 'SELECT root AS id FROM {gone} WHERE root NOT IN (SELECT root FROM {links})',
  'a job that counts on another number of jobs than it waits for': `SELECT links.id FROM {links} AS links
    WHERE links.pending <> (SELECT COUNT(*) FROM {edges} AS edges WHERE edges.waiter = links.id AND edges.waiting = 1)`,
  'a job that is blocked and would wait for ever, or the other way round': `SELECT jobs.id FROM {jobs} AS jobs
    LEFT JOIN {links} AS links ON links.id = jobs.id WHERE (jobs.state = 2) <> (links.gives_up_at IS NOT NULL)`,
  'a job that is blocked and waits for nothing': `SELECT jobs.id FROM {jobs} AS jobs
    JOIN {links} AS links ON links.id = jobs.id WHERE jobs.state = 2 AND links.pending = 0`,
  'a job whose end was not told, or would not be': `SELECT edges.target AS id FROM {edges} AS edges
    LEFT JOIN {jobs} AS jobs ON jobs.id = edges.target
    WHERE edges.outcome IS NULL AND (jobs.id IS NULL OR jobs.state > 3 OR jobs.linked = 0)`,
}

async function rowFaults(query: Query): Promise<readonly string[]> {
  const half = await query<{ id: string }>(
    `SELECT id FROM {jobs} WHERE (state = 3) <> (lease_until IS NOT NULL) OR (state >= 4) <> (finished_at IS NOT NULL)
       OR (state = 3 AND token IS NULL) OR (state >= 4 AND held_key IS NOT NULL)`,
  )
  const unordered = await query<{ id: string }>(
    `SELECT jobs.id FROM {jobs} AS jobs JOIN {lanes} AS lanes ON lanes.lane = jobs.lane
       WHERE (lanes.lane >= ${crowdedFrom}) <> (jobs.crowd IS NOT NULL) OR jobs.crowd <> -lanes.priority`,
  )
  return [
    ...half.map(({ id }) => `job ${id} is not complete`),
    ...unordered.map(({ id }) => `job ${id} has another order than its lane`),
  ]
}
