import type { JobState } from '../../../queue/contract/job-state.ts'
import type { JobFilter } from '../../../queue/contract/store.ts'
import type { Dialect } from '../dialect.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlValue } from '../session.ts'

/** Maximum number of parts per statement, which is planned for each of them. */
export const mostParts = 50

/** An expression that no index contains: otherwise a planner might scan all rows to find these few in order. */
export const sorted = "CONCAT({jobs}.id, '')"

/**
 * A job that another one waits for is `linked` too, but need not be part of a workflow. A scalar subquery, so that no planner
 * begins with all links.
 */
export const isMember = '(SELECT 1 FROM {links} WHERE {links}.id = {jobs}.id) = 1'

/** The states of jobs that are found by lane and state, in order of their ids. */
const listedStates = ['scheduled', 'blocked', 'succeeded', 'dead', 'cancelled', 'skipped'] as const satisfies readonly JobState[]

/** Some of the jobs of a list, which one index has in order of their ids. Those that are ready or running are sorted. */
export interface ListPart {
  readonly table: string
  readonly is: string
  readonly values: readonly SqlValue[]
  readonly order: string
}

/** Where the jobs that match a filter are, if they are in these lanes. */
export function partsOf(dialect: Dialect, filter: JobFilter, lanes: readonly number[]): readonly ListPart[] {
  if (lanes.length === 0) return []
  const { state, group } = filter
  if (group !== undefined) return lanes.map((lane) => groupPart(dialect, filter, lane, group))
  const isMeant = (each: JobState) => state === undefined || state === each
  return [
    ...(isMeant('running') ? [runningPart(dialect, filter, lanes)] : []),
    ...lanes.flatMap((lane) => [
      ...(isMeant('ready') ? [readyPart(dialect, filter, lane)] : []),
      ...listedStates.filter(isMeant).flatMap((each) => listedParts(dialect, filter, lane, each)),
    ]),
  ]
}

function groupPart({ grouped }: Dialect, { state, isLinked }: JobFilter, lane: number, group: string): ListPart {
  const isMeant = state === undefined ? '' : ` AND {jobs}.state + 0 = ${stateNumber[state]}`
  return { table: grouped.from, is: grouped.is + isMeant + linkedOnly(isLinked), values: [group, lane], order: '{jobs}.id' }
}

/** The number of running jobs is bounded by what workers have claimed, however many jobs there are. */
function runningPart({ inState }: Dialect, { isLinked }: JobFilter, lanes: readonly number[]): ListPart {
  const { from, is } = inState(stateNumber.running)
  return { table: from, is: `${is} AND {jobs}.lane IN (?)${linkedOnly(isLinked)}`, values: [lanes], order: sorted }
}

function readyPart({ readyIn }: Dialect, { isLinked }: JobFilter, lane: number): ListPart {
  const { from, is } = readyIn('?')
  return { table: from, is: is + linkedOnly(isLinked), values: [lane], order: sorted }
}

export function listedParts(
  { listed }: Dialect,
  { isLinked }: Pick<JobFilter, 'isLinked'>,
  lane: number,
  state: JobState,
): readonly ListPart[] {
  const linked = isLinked === true ? [1] : [0, 1]
  return linked.map((each) => ({
    table: listed.from,
    is: isLinked === true ? `${listed.is} AND ${isMember}` : listed.is,
    values: [lane, stateNumber[state], each],
    order: '{jobs}.id',
  }))
}

function linkedOnly(isLinked: true | undefined): string {
  return isLinked === true ? ` AND {jobs}.linked = 1 AND ${isMember}` : ''
}

/** How many jobs are in this state. */
export function sumOf(counts: readonly { readonly state: number; readonly jobs: number }[], state: number): number {
  return counts.filter((row) => row.state === state).reduce((sum, { jobs }) => sum + jobs, 0)
}
