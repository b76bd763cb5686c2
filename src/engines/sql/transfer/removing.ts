import { type Steps, wait } from '../../../core/answer.ts'
import type { MovedJob, MovedUnit } from '../../../queue/contract/transfer.ts'
import { isLasting, writeUntil } from '../keys/unique-keys.ts'
import { CountChanges, type Counts } from '../lanes/counts.ts'
import type { Groups } from '../limits/groups.ts'
import { forgetBeside } from '../rows/beside.ts'
import { digestOfKey, heldKeyOf } from '../rows/job-row.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'
import type { JobColumns } from './reading.ts'

export interface RemovingParts {
  readonly counts: Counts
  readonly groups: Groups
}

/**
 * Removes jobs that are now in a parcel from the queue. No notifications are needed: the jobs that wait for them are in the same
 * parcel. Keys held by a job's state stay held until the parcel has arrived; keys that outlive their jobs stay for as long as
 * they would.
 */
export function* takeOut(
  session: SqlSession,
  rows: readonly JobColumns[],
  units: readonly MovedUnit[],
  { counts, groups }: RemovingParts,
): Steps<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  yield* forgetBeside(session, ids)
  yield* wait(session.run('DELETE FROM {jobs} WHERE id IN (?)', [ids]))
  const ready = new Set(
    units
      .flatMap(({ jobs }) => jobs)
      .filter(({ state, group }) => state === 'ready' && group !== null)
      .map(({ id }) => id),
  )
  yield* groups.leave(
    session,
    rows.filter(({ id }) => ready.has(id)),
  )
  const changes = new CountChanges()
  for (const { lane, state } of rows) changes.add(lane, state, -1)
  yield* changes.write(session, counts)
  yield* forgetLinks(session, rows, units)
  yield* reserveKeys(
    session,
    units.flatMap(({ jobs }) => jobs),
  )
}

function* forgetLinks(session: SqlSession, rows: readonly JobColumns[], units: readonly MovedUnit[]): Steps<void> {
  const linked = rows.filter((row) => row.linked === 1).map(({ id }) => id)
  if (linked.length === 0) return
  yield* wait(session.run('DELETE FROM {links} WHERE id IN (?)', [linked]))
  yield* wait(session.run('DELETE FROM {edges} WHERE waiter IN (?)', [linked]))
  const roots = [...new Set(units.flatMap(({ gone }) => gone.map(({ root }) => root)))]
  if (roots.length > 0) yield* wait(session.run('DELETE FROM {gone} WHERE root IN (?)', [roots]))
  const keys = units.flatMap(({ jobs }) => jobs.flatMap(({ onceKeys }) => onceKeys))
  if (keys.length > 0) yield* wait(session.run('DELETE FROM {once} WHERE once_key IN (?) AND done_until IS NULL', [keys]))
}

/** The `until` value of keys that are held for jobs in a parcel. No lasting key is held until then. */
export const reservedUntil = 8e15

function* reserveKeys(session: SqlSession, jobs: readonly MovedJob[]): Steps<void> {
  const rows = keysHeldByState(jobs).map(({ held_key, job_id }) => ({ held_key, job_id, until: reservedUntil }))
  if (rows.length > 0) yield* wait(session.insertNew('unique_keys', ['held_key', 'job_id', 'until'], rows, 'held_key'))
}

/** The parcel has arrived, or its jobs come back: their keys are free, or held by the jobs again. */
export function* freeReserved(session: SqlSession, jobs: readonly MovedJob[]): Steps<void> {
  for (const { held_key, job_id } of keysHeldByState(jobs)) {
    const reserved = 'DELETE FROM {unique_keys} WHERE held_key = ? AND job_id = ? AND until = ?'
    yield* wait(session.run(reserved, [held_key, job_id, reservedUntil]))
  }
}

function keysHeldByState(jobs: readonly MovedJob[]): readonly { readonly held_key: string; readonly job_id: string }[] {
  return jobs.flatMap((job) => {
    const held_key = heldDigest(job)
    return held_key === null ? [] : [{ held_key, job_id: job.id }]
  })
}

/** The digest of the key that the job's state holds. */
export function heldDigest({ state, uniqueKey, uniqueUntil, startedAt }: MovedJob): string | null {
  if (uniqueKey === null) return null
  const unique_until = writeUntil(uniqueUntil)
  return heldKeyOf({ state: stateNumber[state], unique_key: uniqueKey, unique_until, started_at: startedAt })
}

/** The digest of the key that the job holds for a time or forever. */
export function lastingDigest({ uniqueKey, uniqueUntil, holdsLastingKey }: MovedJob): string | null {
  const isHeld = uniqueKey !== null && holdsLastingKey && isLasting(writeUntil(uniqueUntil))
  return isHeld ? digestOfKey(uniqueKey) : null
}
