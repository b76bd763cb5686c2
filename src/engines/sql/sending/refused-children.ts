import type { Steps } from '../../../core/answer.ts'
import type { Envelope, ParentLink } from '../../../envelope/envelope.ts'
import type { SendReceipt } from '../../../queue/contract/contract.ts'
import type { JobRow } from '../rows/job-row.ts'
import { claimOf, isJobId, readToken } from '../rows/lease-token.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import { childKey } from '../workflows/edges.ts'

/** Refusals by index: children of jobs that may not have any, and children that already exist, even if only in this batch. */
export function* refusedChildren(hand: LoadedJobs, envelopes: readonly Envelope[]): Steps<ReadonlyMap<number, SendReceipt>> {
  const refused = new Map<number, SendReceipt>()
  const parents = envelopes.flatMap(({ links }) => links?.parent ?? [])
  if (parents.length === 0) return refused
  yield* hand.lock(parents.map(({ id }) => id).filter(isJobId))
  const children = yield* childrenOf(hand, parents)
  for (const [index, { id, links }] of envelopes.entries()) {
    if (links?.parent == null) continue
    const why = refusalOf(hand, links.parent)
    const place = placeOf(links.parent.id, childKey(links.parent.key))
    const existing = children.get(place)
    if (why !== undefined) refused.set(index, { id, stored: false, refused: why })
    else if (existing !== undefined) refused.set(index, { id: existing, stored: false })
    else children.set(place, id)
  }
  return refused
}

function refusalOf(hand: LoadedJobs, { id, token }: ParentLink): SendReceipt['refused'] {
  const row = hand.get(id)
  if (row === undefined || !(token === null ? mayHaveChildren(row) : isHeldBy(row, token))) return 'lost'
  return row.cancel === 1 ? 'cancelled' : undefined
}

function isHeldBy({ id, state, token }: JobRow, text: string): boolean {
  const read = readToken(text)
  return state === stateNumber.running && read?.id === id && read.claim === claimOf(token)
}

/** A blocked job whose handler was called before is blocked only by its children. */
function mayHaveChildren({ state, started_at }: JobRow): boolean {
  return state === stateNumber.running || (state === stateNumber.blocked && started_at !== null)
}

function* childrenOf(hand: LoadedJobs, parents: readonly ParentLink[]): Steps<Map<string, string>> {
  const ids = new Set(parents.flatMap(({ id }) => (hand.get(id) === undefined ? [] : [id])))
  const keys = new Set(parents.map(({ key }) => childKey(key)))
  const edges = yield* hand.edges.children([...ids], [...keys])
  return new Map(edges.map(({ waiter, child_key, target }) => [placeOf(waiter, child_key as string), target]))
}

function placeOf(parent: string, key: string): string {
  return `${parent}.${key}`
}
