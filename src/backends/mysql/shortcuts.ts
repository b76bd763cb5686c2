import { CountChanges } from '../sql/counts.ts'
import { plainColumns } from '../sql/sent-rows.ts'
import type { SqlDatabase, SqlRow } from '../sql/session.ts'
import type { DoneLease, Shortcuts } from '../sql/shortcuts.ts'
import { isRunning, stateNumber } from '../sql/tables.ts'
import { claim } from './claim.ts'

/** Each of them is one transaction of a few statements, over rows that are found by their primary keys alone. */
export const mysqlShortcuts: Shortcuts = { store, succeed, claim }

function store(database: SqlDatabase, rows: readonly SqlRow[]): Promise<ReadonlySet<string>> {
  return database.transaction(async (session) => {
    const written = await session.insertNew('jobs', plainColumns, rows, 'id')
    const changes = new CountChanges()
    for (const { id, lane, state } of rows) if (written.has(id as string)) changes.add(lane as number, state as number, 1)
    await changes.insert(session)
    return written
  })
}

const held = `SELECT id, token FROM {jobs by PRIMARY} WHERE id IN (?) AND ${isRunning} AND linked = 0 ORDER BY id FOR UPDATE`

function succeed(database: SqlDatabase, done: readonly DoneLease[], now: number): Promise<ReadonlySet<string>> {
  const ids = done.map(({ id }) => id).sort()
  const ended = { state: stateNumber.succeeded, finished_at: now, lease_until: null, cancel: 0, held_key: null }
  const columns = ['state', 'finished_at', 'lease_until', 'cancel', 'held_key', 'result'] as const
  return database.transaction(async (session) => {
    const rows = await session.all<{ id: string; token: string }>(held, [ids])
    const tokens = new Map(rows.map(({ id, token }) => [id, token]))
    const mine = done.filter(({ id, claim }) => tokens.get(id) === claim)
    await session.update(
      'jobs',
      ['id'],
      columns,
      mine.map(({ id, result }) => ({ id, ...ended, result })),
    )
    const changes = new CountChanges()
    for (const { lane } of mine) changes.move(lane, stateNumber.running, stateNumber.succeeded)
    await changes.insert(session)
    return new Set(mine.map(({ id }) => id))
  })
}
