import { type Steps, wait } from '../../../core/answer.ts'
import { jobStates } from '../../../queue/contract/job-state.ts'
import type { MovedUnit, PageEnd, PageRequest } from '../../../queue/contract/transfer.ts'
import { isScopedKey } from '../../../queue/model/unique-key.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import { MovedUnits } from '../../../queue/rules/transfer/moved-units.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import type { Candidates } from './candidates.ts'
import { wantBelongings, wantComponents } from './loading.ts'

export interface FoundUnits extends Pick<PageEnd, 'unreadable'> {
  readonly units: readonly MovedUnit[]
}

/** Jobs locked by another transaction are skipped: the next walk finds them. */
export function* unlocked(session: SqlSession, ids: readonly string[]): Steps<readonly string[]> {
  if (ids.length === 0) return []
  const question = 'SELECT id FROM {jobs by PRIMARY} WHERE id IN (?) ORDER BY id FOR UPDATE SKIP LOCKED'
  return (yield* wait(session.all<{ id: string }>(question, [ids]))).map(({ id }) => id)
}

/** What can leave of these jobs, with their workflows. `after`: where the last page of a reader ended; absent if they are taken out. */
export function unitsOf(
  queue: LoadedQueue,
  { plain, linked }: Pick<Candidates, 'plain' | 'linked'>,
  request: PageRequest,
  after = '',
): FoundUnits {
  queue.want([...plain, ...linked].map((name) => ({ kind: 'job', name })))
  wantComponents(queue, linked)
  const moved = movedUnits(queue)
  const seen = new Set<StoredJob>()
  const unreadable: string[] = []
  const sets: (readonly StoredJob[])[] = []
  for (const id of [...plain, ...linked]) {
    const job = queue.job(id)
    if (job === undefined || seen.has(job) || !moved.isMeant(job, request)) continue
    const members = moved.componentOf(job)
    for (const member of members) seen.add(member)
    if (members.some(({ state }) => state === 'running') || moved.wasShown(members, after, request)) continue
    sets.push(members)
  }
  const ids = sets.flat().map(({ envelope }) => envelope.id)
  wantBelongings(queue, ids)
  const units = sets.flatMap((members) => {
    const bad = members.filter(({ envelope }) => !isReadable(queue, envelope.id))
    unreadable.push(...bad.map(({ envelope }) => envelope.id))
    return bad.length > 0 ? [] : (moved.unitOf(members) ?? [])
  })
  return { units, unreadable }
}

export function movedUnits(queue: LoadedQueue): MovedUnits {
  return new MovedUnits({ ...queue.rules, logs: queue.logs })
}

/** Whether everything that is moved can be read: something else may have been written to the table. */
function isReadable({ rows }: LoadedQueue, id: string): boolean {
  const row = rows.job(id)
  if (row === null) return false
  const { identity, payload, signature, progress } = rows.get('body', id)
  const { result, seal } = rows.get('result', id)
  const texts: readonly unknown[] = [identity, payload]
  const numbers = [row.created_at, row.run_at, row.attempts, row.rescues]
  const mayBeNull: readonly unknown[] = [signature, row.unique_key, row.owner, result, seal, progress, row.reason, row.schedule]
  return (
    texts.every((each) => typeof each === 'string') &&
    numbers.every(Number.isSafeInteger) &&
    mayBeNull.every((each) => each === null || typeof each === 'string') &&
    (row.unique_key === null || isScopedKey(row.unique_key)) &&
    jobStates[row.state] !== undefined &&
    row.state !== stateNumber.running
  )
}
