import { type Steps, wait } from '../../../core/answer.ts'
import type { ChangedSchedule, ScheduleChanges } from '../../../queue/contract/schedule-store.ts'
import { type DefinitionRow, definitionOf } from '../rows/schedule-record.ts'
import type { SqlDatabase } from '../session.ts'
import { isRevision, readRevision } from './schedule-revision.ts'

interface ChangeRow extends DefinitionRow {
  readonly name: string
  readonly revision: number
  readonly expression: string
  readonly timezone: string
  readonly version: string
}

interface RemovedRow {
  readonly name: string
  readonly revision: number
}

/**
 * What has changed since a revision. A transaction that changes schedules holds the revision until it commits, so if a change is
 * visible, all earlier ones are too.
 */
export function* changesAfter(database: SqlDatabase, since: number, limit: number): Steps<ScheduleChanges> {
  const current = yield* readRevision(database)
  if (current <= since) return { revision: current, changed: [], hasMore: false }
  const rows = yield* wait(
    database.all<ChangeRow>(
      `SELECT name, revision, expression, timezone, version, definition, signature FROM {schedules}
       WHERE revision > ? ORDER BY revision LIMIT ?`,
      [since, limit + 1],
    ),
  )
  const removed = yield* wait(
    database.all<RemovedRow>('SELECT name, revision FROM {removed_schedules} WHERE revision > ? ORDER BY revision LIMIT ?', [
      since,
      limit + 1,
    ]),
  )
  const latest = new Map<string, ChangeRow | RemovedRow>()
  for (const row of [...rows, ...removed].toSorted((a, b) => a.revision - b.revision)) {
    latest.delete(row.name)
    latest.set(row.name, row)
  }
  const all = [...latest.values()]
  const page = all.slice(0, limit)
  const hasMore = all.length > page.length
  const last = page.at(-1)?.revision ?? since
  const highest = rows.map(({ revision }) => revision).findLast(isRevision) ?? 0
  return { revision: hasMore ? last : Math.max(current, highest), changed: page.map(changeOf), hasMore }
}

function changeOf(row: ChangeRow | RemovedRow): ChangedSchedule {
  const { name } = row
  if (!('expression' in row)) return { name, entry: null }
  const { expression, timezone, version } = row
  return { name, entry: { name, expression, timezone, version, definition: definitionOf(row) } }
}
