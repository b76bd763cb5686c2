import type { JobRow } from './job-row.ts'
import type { SqlSession } from './session.ts'
import { stateNumber } from './tables.ts'

interface GoneCount {
  readonly root: string
  readonly state: number
  readonly jobs: number
}

/**
 * Forgets the places that jobs have in workflows, because they are deleted. How they ended is remembered as long as others of
 * their workflow are there.
 */
export async function forgetPlaces(session: SqlSession, removed: readonly Pick<JobRow, 'id' | 'state'>[]): Promise<void> {
  if (removed.length === 0) return
  const ids = removed.map(({ id }) => id)
  const places = await session.all<{ id: string; root: string }>('SELECT id, root FROM {links} WHERE id IN (?)', [ids])
  if (places.length === 0) return
  await session.run('DELETE FROM {links} WHERE id IN (?)', [ids])
  await session.run('DELETE FROM {edges} WHERE waiter IN (?)', [ids])
  const states = new Map(removed.map(({ id, state }) => [id, state]))
  await remember(
    session,
    places.map(({ id, root }) => ({ root, state: states.get(id) as number })),
  )
}

async function remember(session: SqlSession, ends: readonly Pick<GoneCount, 'root' | 'state'>[]): Promise<void> {
  const roots = [...new Set(ends.map(({ root }) => root))]
  const left = await session.all<{ root: string }>('SELECT DISTINCT root FROM {links} WHERE root IN (?)', [roots])
  const living = new Set(left.map(({ root }) => root))
  const over = roots.filter((root) => !living.has(root))
  if (over.length > 0) await session.run('DELETE FROM {gone} WHERE root IN (?)', [over])
  const counted = ends.filter(({ root, state }) => living.has(root) && state >= stateNumber.succeeded)
  if (counted.length > 0) await count(session, [...living], counted)
}

async function count(session: SqlSession, roots: readonly string[], ends: readonly Pick<GoneCount, 'root' | 'state'>[]) {
  const known = await session.all<GoneCount>('SELECT root, state, jobs FROM {gone} WHERE root IN (?)', [roots])
  const counts = new Map(known.map((row) => [keyOf(row), { ...row }]))
  for (const { root, state } of ends) {
    const key = keyOf({ root, state })
    counts.set(key, { root, state, jobs: (counts.get(key)?.jobs ?? 0) + 1 })
  }
  await session.upsert('gone', ['root', 'state', 'jobs'], [...counts.values()], ['root', 'state'], ['jobs'])
}

function keyOf({ root, state }: Pick<GoneCount, 'root' | 'state'>): string {
  return `${state}.${root}`
}
