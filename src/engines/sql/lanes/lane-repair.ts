import { type Steps, wait } from '../../../core/answer.ts'
import { parseIdentity } from '../../../envelope/envelope.ts'
import type { SqlSession } from '../session.ts'
import { crowdOf, isLaneNumber, keyColumns, type Lane, laneColumns, laneKey, textOf } from './lane-numbers.ts'

/** What a job says about its lane. */
interface PlacedRow {
  readonly identity: unknown
  readonly schedule: unknown
  readonly grp: unknown
}

/**
 * Lanes that were deleted although they contain ready jobs: the program that stored the jobs was stopped for minutes between
 * looking up the lane and storing them. The identities of the jobs say what the lane was, so it is written again.
 */
export function* lanesOfReady(session: SqlSession, numbers: readonly number[]): Steps<readonly Lane[]> {
  const { from, is } = session.dialect.readyIn('?')
  return yield* rewritten(session, numbers, `SELECT identity, schedule, grp FROM ${from} WHERE ${is} LIMIT 1`)
}

/** The same for lanes that contain jobs in any state. This may read all jobs, but is hardly ever needed. */
export function* lanesOfJobs(session: SqlSession, numbers: readonly number[]): Steps<readonly Lane[]> {
  return yield* rewritten(session, numbers, 'SELECT identity, schedule, grp FROM {jobs} WHERE lane = ? LIMIT 1')
}

function* rewritten(session: SqlSession, numbers: readonly number[], question: string): Steps<readonly Lane[]> {
  const found: Lane[] = []
  for (const number of numbers) {
    if (!isLaneNumber(number)) continue
    const [row] = yield* wait(session.all<PlacedRow>(question, [number]))
    const lane = row === undefined ? undefined : laneOfRow(number, row)
    if (lane !== undefined) found.push(yield* written(session, lane))
  }
  return found
}

/** What a job's row says about the lane with this number, if that lane is missing. */
export function laneOfRow(lane: number, { identity: text, schedule, grp }: PlacedRow): Lane | undefined {
  const identity = typeof text === 'string' ? parseIdentity(text) : undefined
  if (identity === undefined) return undefined
  const group = grp === '' ? null : String(grp)
  return { lane, ...laneKey({ ...identity, group }, schedule !== null) }
}

/** If the same lane has a different number by now, its jobs are moved there. */
function* written(session: SqlSession, lane: Lane): Steps<Lane> {
  yield* wait(session.insertNew('lanes', ['lane', ...keyColumns], [{ ...lane }], 'lane'))
  const { queue, job, priority } = lane
  const same = `SELECT ${laneColumns} FROM {lanes} WHERE queue = ? AND job = ? AND priority = ?`
  const rows = yield* wait(session.all<Lane>(same, [queue, job, priority]))
  const there = rows.find((each) => textOf(each) === textOf(lane))
  if (there === undefined || there.lane === lane.lane) return lane
  const { lane: to } = there
  yield* wait(session.run('UPDATE {jobs} SET lane = ?, crowd = ? WHERE lane = ?', [to, crowdOf(there), lane.lane]))
  yield* moveCounts(session, lane.lane, to)
  return { ...there, lane: lane.lane }
}

/** Where there is one row of counts per lane and state, the other lane may have that row already: they are added up. */
function* moveCounts(session: SqlSession, from: number, to: number): Steps<void> {
  if (session.dialect.isAlone !== true) {
    yield* wait(session.run('UPDATE {counts} SET lane = ? WHERE lane = ?', [to, from]))
    return
  }
  const counts = yield* wait(session.all<StateCount>('SELECT state, jobs FROM {counts} WHERE lane = ?', [from]))
  yield* wait(session.run('DELETE FROM {counts} WHERE lane = ?', [from]))
  const moved = counts.map(({ state, jobs }) => ({ lane: to, state, jobs }))
  yield* wait(session.insert('counts', ['lane', 'state', 'jobs'], moved))
}

interface StateCount {
  readonly state: number
  readonly jobs: number
}
