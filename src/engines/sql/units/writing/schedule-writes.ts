import { type Steps, wait } from '../../../../core/answer.ts'
import type { StoredOccurrence } from '../../../../queue/rules/schedules/timeline.ts'
import { type Changes, writeChanges } from '../../rows/row-changes.ts'
import { occurrenceColumns, occurrenceRowOf, storedOccurrence } from '../../rows/schedule-record.ts'
import { holdRevision, writeRevision } from '../../schedules/schedule-revision.ts'
import type { SqlRow } from '../../session.ts'
import type { LoadedQueue } from '../loaded/loaded-queue.ts'
import { awayMark, scheduleColumns } from '../reading/row-readers.ts'

/** Each change of a schedule gets the next revision, in the order of the changes. */
export function* writeSchedules(queue: LoadedQueue): Steps<void> {
  const { session } = queue.rows
  const { changed } = queue.rules.schedules
  if (changed.length === 0) return
  const before = yield* holdRevision(session)
  const revisions = new Map(changed.map((name, index) => [name, before + 1 + index]))
  const rows = changed.flatMap((name, index) => scheduleRow(queue, name, before + 1 + index))
  const columns = [...scheduleColumns, 'revision'] as const
  yield* wait(session.upsert('schedules', columns, rows, ['name'], columns.slice(1)))
  if (rows.length > 0) {
    yield* wait(session.run('DELETE FROM {removed_schedules} WHERE name IN (?)', [rows.map(({ name }) => name)]))
  }
  const removed = changed.filter((name) => queue.schedules.get(name) === undefined)
  if (removed.length > 0) {
    yield* wait(session.run('DELETE FROM {occurrences} WHERE schedule IN (?)', [removed]))
    yield* wait(session.run('DELETE FROM {schedules} WHERE name IN (?)', [removed]))
    const removals = removed.map((name) => ({ name, revision: revisions.get(name) as number, removed_at: queue.now }))
    const noted = ['name', 'revision', 'removed_at'] as const
    yield* wait(session.upsert('removed_schedules', noted, removals, ['name'], ['revision', 'removed_at']))
  }
  yield* writeRevision(session, before + changed.length)
}

/** A schedule that was paused stays paused since then. */
function scheduleRow(queue: LoadedQueue, name: string, revision: number): readonly (SqlRow & { readonly name: string })[] {
  const schedule = queue.schedules.get(name)
  if (schedule === undefined) return []
  const { paused, definition, expression, timezone, version, since } = schedule
  const pausedAt = queue.rows.peek('schedule', name)?.paused_at ?? queue.now
  const defined = { definition: definition?.text ?? null, signature: definition?.signature ?? null }
  const row = { name, expression, timezone, version, since, ...defined, paused_at: paused ? pausedAt : null }
  return [{ ...row, revision }]
}

/** Occurrences that the rules have added, removed or changed. Only a transaction that holds the revision adds and removes some. */
export function* writeOccurrences({ rows: { session }, occurrences }: LoadedQueue): Steps<void> {
  const { created, removed, loaded } = occurrences
  if (removed.size > 0) {
    yield* wait(session.run('DELETE FROM {occurrences} WHERE job_id IN (?)', [[...removed].map(({ jobId }) => jobId)]))
  }
  yield* wait(session.insert('occurrences', occurrenceColumns, [...created].map(rowOf)))
  const changes: Changes = new Map()
  for (const { row, occurrence } of loaded) {
    if (removed.has(occurrence)) continue
    const [before, after] = [rowOf(storedOccurrence(row)), rowOf(occurrence)]
    const differing = changeable.filter((column) => before[column] !== after[column])
    if (differing.length > 0) changes.set(row.job_id, Object.fromEntries(differing.map((column) => [column, after[column]])))
  }
  yield* writeChanges(session, 'occurrences', changes, 'job_id')
}

const changeable = ['stored_at', 'outcome', 'started_at', 'finished_at'] as const

function rowOf(occurrence: StoredOccurrence) {
  return occurrenceRowOf({ ...occurrence.record(), storedAt: occurrence.storedAt })
}

/** Which schedules were moved away, and which have come back. */
export function* writeAway({ rows: { session }, away, now }: LoadedQueue): Steps<void> {
  const changes = away.changes()
  const gone = changes.flatMap(([name, , target]) =>
    target === undefined ? [] : [{ name: awayMark(name), part: 0, target, at: now, body: '' }],
  )
  const back = changes.flatMap(([name, before, target]) => (target === undefined && before !== undefined ? [awayMark(name)] : []))
  if (gone.length > 0)
    yield* wait(session.upsert('transfers', ['name', 'part', 'target', 'at', 'body'], gone, ['name', 'part'], ['target', 'at']))
  if (back.length > 0) yield* wait(session.run('DELETE FROM {transfers} WHERE name IN (?)', [back]))
}
