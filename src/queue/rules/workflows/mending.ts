import type { Jobs } from '../jobs/jobs.ts'
import type { Endings, Waiter } from './endings.ts'

export interface MendingParts {
  readonly jobs: Jobs
  readonly endings: Endings
}

/** Repairs what these jobs wait for, for stored data that is inconsistent. Returns how many of them needed it. */
export function mend(ids: readonly string[], { jobs, endings }: MendingParts): number {
  const waiters = ids.map((id) => jobs.get(id) as Waiter | undefined).filter((job) => job?.links != null)
  let mended = 0
  endings.together(() => {
    for (const waiter of waiters) if (mendOne(waiter as Waiter, endings)) mended++
  })
  return mended
}

function mendOne(waiter: Waiter, endings: Endings): boolean {
  const { links } = waiter
  const { awaited } = links.edges
  const over = awaited.flatMap((edge) => {
    const end = endings.missed(edge)
    return end === undefined ? [] : [{ edge, end }]
  })
  const isBlocked = waiter.state === 'blocked'
  const isMiscounted = isBlocked && (links.pending !== awaited.length || awaited.length === 0)
  if (over.length === 0 && !isMiscounted) return false
  links.pending = awaited.length
  for (const { edge, end } of over) endings.resolve(edge, end)
  if (isBlocked && awaited.length === 0) endings.allEnded(waiter)
  return true
}
