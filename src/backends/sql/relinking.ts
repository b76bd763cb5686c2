import { type End, isSuccess, lateEnd } from '../waiting.ts'
import { type Edge, endOf, linkOf } from './edges.ts'
import type { JobRow } from './job-row.ts'
import type { JobsInHand } from './jobs-in-hand.ts'
import { stateNumber } from './tables.ts'
import { block } from './waiting-jobs.ts'

/** Jobs that were put back wait again for those of their dependencies that live again. Children that failed are made anew. */
export async function relink(hand: JobsInHand, ids: readonly string[]): Promise<void> {
  await hand.waiters.read(ids)
  const edges = await hand.edges.of(ids)
  const targets = await hand.lock(edges.map(({ target }) => target))
  await hand.readLeft(targets.filter((row) => !isAlive(row)).map(({ id }) => id))
  const byWaiter = new Map<string, Edge[]>(ids.map((id) => [id, []]))
  for (const edge of edges) byWaiter.get(edge.waiter)?.push(edge)
  for (const [id, own] of byWaiter) relinkOne(hand, id, own)
}

function relinkOne(hand: JobsInHand, id: string, edges: readonly Edge[]): void {
  if (hand.waiters.get(id) === undefined) return
  const alive = edges.filter(({ target }) => isAlive(hand.get(target)))
  for (const edge of edges) {
    if (isAlive(hand.get(edge.target))) hand.edges.reopen(edge)
    else reconsider(hand, edge)
  }
  hand.waiters.change(id, { doom: null, pending: alive.length })
  if (alive.some(({ child_key }) => child_key === null)) block(hand, hand.get(id) as JobRow, null)
}

/** It is not waited for any more. How a job ended that is gone is known at the edge alone. */
function reconsider(hand: JobsInHand, edge: Edge): void {
  const target = hand.get(edge.target)
  const isUnknown = target !== undefined || edge.outcome === null
  const known = isUnknown ? hand.edges.end(edge, lateEnd(endOf(target, hand.leftBy(edge.target)), edge.seal)) : edge
  const { state, result } = linkOf(known, null)
  if (edge.child_key !== null && !isSuccess({ state: state as End['state'], result })) hand.edges.drop(edge)
}

function isAlive(row: JobRow | undefined): boolean {
  return row !== undefined && row.state <= stateNumber.running
}
