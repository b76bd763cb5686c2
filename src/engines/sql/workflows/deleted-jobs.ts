import { type Steps, wait } from '../../../core/answer.ts'
import type { JobRow } from '../rows/job-row.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'

interface GoneCount {
  readonly root: string
  readonly state: number
  readonly jobs: number
}

/**
 * Deletes the places of deleted jobs in workflows. How those jobs ended is remembered while other jobs of their workflow exist.
 */
export function* forgetPlaces(session: SqlSession, removed: readonly Pick<JobRow, 'id' | 'state'>[]): Steps<void> {
  if (removed.length === 0) return
  const ids = removed.map(({ id }) => id)
  const places = yield* wait(session.all<{ id: string; root: string }>('SELECT id, root FROM {links} WHERE id IN (?)', [ids]))
  if (places.length === 0) return
  yield* wait(session.run('DELETE FROM {links} WHERE id IN (?)', [ids]))
  yield* wait(session.run('DELETE FROM {edges} WHERE waiter IN (?)', [ids]))
  const states = new Map(removed.map(({ id, state }) => [id, state]))
  yield* remember(
    session,
    places.map(({ id, root }) => ({ root, state: states.get(id) as number, jobs: 1 })),
  )
}

function* remember(session: SqlSession, ends: readonly GoneCount[]): Steps<void> {
  const roots = [...new Set(ends.map(({ root }) => root))]
  const left = yield* wait(session.all<{ root: string }>('SELECT DISTINCT root FROM {links} WHERE root IN (?)', [roots]))
  const living = new Set(left.map(({ root }) => root))
  const over = roots.filter((root) => !living.has(root))
  if (over.length > 0) yield* wait(session.run('DELETE FROM {gone} WHERE root IN (?)', [over]))
  const counted = ends.filter(({ root, state }) => living.has(root) && state >= stateNumber.succeeded)
  yield* addGone(session, counted)
}

/** Counts further jobs of these workflows that ended and were deleted. */
export function* addGone(session: SqlSession, ends: readonly GoneCount[]): Steps<void> {
  if (ends.length === 0) return
  const roots = [...new Set(ends.map(({ root }) => root))]
  const known = yield* wait(session.all<GoneCount>('SELECT root, state, jobs FROM {gone} WHERE root IN (?)', [roots]))
  const counts = new Map(known.map((row) => [keyOf(row), { ...row }]))
  for (const { root, state, jobs } of ends) {
    const key = keyOf({ root, state })
    counts.set(key, { root, state, jobs: (counts.get(key)?.jobs ?? 0) + jobs })
  }
  yield* wait(session.upsert('gone', ['root', 'state', 'jobs'], [...counts.values()], ['root', 'state'], ['jobs']))
}

function keyOf({ root, state }: Pick<GoneCount, 'root' | 'state'>): string {
  return `${state}.${root}`
}
