import type { Steps } from '../../../core/answer.ts'
import { type End, isSuccess, lateEnd } from '../../../queue/workflows/waiting.ts'
import type { JobRow } from '../rows/job-row.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import { type Edge, endOf, linkOf } from './edges.ts'
import { block } from './waiting-jobs.ts'

/**
 * Jobs that were put back wait again for those of their dependencies that are alive again. Children that failed are created
 * again.
 */
export function* relink(hand: LoadedJobs, ids: readonly string[]): Steps<void> {
  yield* hand.waiters.read(ids)
  const edges = yield* hand.edges.of(ids)
  const targets = yield* hand.lock(edges.map(({ target }) => target))
  yield* hand.readLeft(targets.filter((row) => !isAlive(row)).map(({ id }) => id))
  const byWaiter = new Map<string, Edge[]>(ids.map((id) => [id, []]))
  for (const edge of edges) byWaiter.get(edge.waiter)?.push(edge)
  for (const [id, own] of byWaiter) relinkOne(hand, id, own)
}

function relinkOne(hand: LoadedJobs, id: string, edges: readonly Edge[]): void {
  if (hand.waiters.get(id) === undefined) return
  const alive = edges.filter(({ target }) => isAlive(hand.get(target)))
  for (const edge of edges) {
    const target = hand.get(edge.target)
    if (target === undefined || !isAlive(target)) {
      reconsider(hand, edge)
      continue
    }
    hand.edges.reopen(edge)
    // A job that arrived after this one had failed for lack of it was stored as a job without dependents.
    if (target.linked === 0) hand.change(target.id, { linked: 1 })
  }
  hand.waiters.change(id, { doom: null, pending: alive.length })
  if (alive.some(({ child_key }) => child_key === null)) block(hand, hand.get(id) as JobRow, null)
}

/** This edge is no longer waited for. How a deleted job ended is known only from the edge. */
function reconsider(hand: LoadedJobs, edge: Edge): void {
  const target = hand.get(edge.target)
  const isUnknown = target !== undefined || edge.outcome === null
  const known = isUnknown ? hand.edges.end(edge, lateEnd(endOf(target, hand.leftBy(edge.target)), edge.seal)) : edge
  const { state, result } = linkOf(known, null)
  if (edge.child_key !== null && !isSuccess({ state: state as End['state'], result })) hand.edges.drop(edge)
}

function isAlive(row: JobRow | undefined): boolean {
  return row !== undefined && row.state <= stateNumber.running
}
