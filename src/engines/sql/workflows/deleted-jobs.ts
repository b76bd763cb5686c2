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
    places.map(({ id, root }) => ({ root, state: states.get(id) as number })),
  )
}

function* remember(session: SqlSession, ends: readonly Pick<GoneCount, 'root' | 'state'>[]): Steps<void> {
  const roots = [...new Set(ends.map(({ root }) => root))]
  const left = yield* wait(session.all<{ root: string }>('SELECT DISTINCT root FROM {links} WHERE root IN (?)', [roots]))
  const living = new Set(left.map(({ root }) => root))
  const over = roots.filter((root) => !living.has(root))
  if (over.length > 0) yield* wait(session.run('DELETE FROM {gone} WHERE root IN (?)', [over]))
  const counted = ends.filter(({ root, state }) => living.has(root) && state >= stateNumber.succeeded)
  if (counted.length > 0) yield* count(session, [...living], counted)
}

function* count(session: SqlSession, roots: readonly string[], ends: readonly Pick<GoneCount, 'root' | 'state'>[]) {
  const known = yield* wait(session.all<GoneCount>('SELECT root, state, jobs FROM {gone} WHERE root IN (?)', [roots]))
  const counts = new Map(known.map((row) => [keyOf(row), { ...row }]))
  for (const { root, state } of ends) {
    const key = keyOf({ root, state })
    counts.set(key, { root, state, jobs: (counts.get(key)?.jobs ?? 0) + 1 })
  }
  yield* wait(session.upsert('gone', ['root', 'state', 'jobs'], [...counts.values()], ['root', 'state'], ['jobs']))
}

function keyOf({ root, state }: Pick<GoneCount, 'root' | 'state'>): string {
  return `${state}.${root}`
}
