import type { Links, ParentLink } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../contract.ts'
import { distinctWaits } from '../waiting.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Edge, Edges } from './edges.ts'
import type { Endings } from './endings.ts'
import { countOf, type FlatEnvelopes, idAt, picked } from './flat-envelopes.ts'
import { stateNumber } from './schema.ts'
import type { Sending, Taken } from './sending.ts'
import { readToken } from './token.ts'
import type { Waiter, Waiters } from './waiters.ts'

export interface LinkingParts {
  readonly addresses: Addresses
  readonly sending: Sending
  readonly edges: Edges
  readonly waiters: Waiters
  readonly endings: Endings
}

/** One envelope of a batch, on its way to its place in a workflow. */
interface LinkedEnvelope {
  /** Its place in the batch. */
  readonly index: number
  /** The id of the job that stands for it. */
  readonly id: string
  readonly links: Links
  readonly stored: boolean
}

type EdgeStart = Pick<Edge, 'waiter' | 'key' | 'policy'>

/** One that leads to no living job, and what vouches for that one where its end was not sealed. */
interface LateEdge {
  readonly edge: Edge
  readonly late: string | null
}

/** Stores envelopes together with what ties them to each other and to jobs that are there. */
export class Linking {
  readonly #parts: LinkingParts
  readonly #holds: SqliteStatement
  readonly #parent: SqliteStatement
  readonly #target: SqliteStatement

  constructor(connection: Connection, parts: LinkingParts) {
    this.#parts = parts
    this.#holds = connection.prepare('SELECT seq, cancel FROM treadle_jobs WHERE seq = ? AND token = ? AND state = 3 AND id = ?')
    // One whose handler was called once is blocked by nothing but its children.
    this.#parent = connection.prepare(
      `SELECT seq, cancel FROM treadle_jobs
       WHERE seq = ? AND (state = ${stateNumber.running} OR (state = ${stateNumber.blocked} AND started_at IS NOT NULL))`,
    )
    this.#target = connection.prepare(
      'SELECT treadle_lanes.job, state FROM treadle_jobs JOIN treadle_lanes USING (lane) WHERE seq = ?',
    )
  }

  send(flat: FlatEnvelopes, now: number): readonly Taken[] {
    return hasLinks(flat) ? this.#sendLinked(flat, now) : this.#parts.sending.send(flat, now)
  }

  #sendLinked(flat: FlatEnvelopes, now: number): readonly Taken[] {
    const receipts = new Map<number, SendReceipt>()
    const links = linksOf(flat)
    const firstWithKey = new Map<string, string>()
    links.forEach((each, index) => {
      const refused = each?.parent == null ? undefined : this.#refused(each.parent, idAt(flat, index), firstWithKey)
      if (refused !== undefined) receipts.set(index, refused)
    })
    const places = links.flatMap((_, index) => (receipts.has(index) ? [] : [index]))
    for (const [place, receipt] of this.#parts.sending.send(picked(flat, places), now))
      receipts.set(places[place] as number, receipt)
    const holders = new Map([...receipts].map(([index, { id }]) => [idAt(flat, index), id]))
    const linked = places.flatMap((index) => {
      const id = idAt(flat, index)
      const each = links[index]
      return each == null ? [] : [{ index, id: holders.get(id) ?? id, links: each, stored: !receipts.has(index) }]
    })
    const circular = this.#link(linked, holders, now)
    return [...receipts].map(([index, receipt]) => {
      const id = holders.get(receipt.id) ?? receipt.id
      return [index, circular.has(index) ? { ...receipt, id, refused: 'circular' } : { ...receipt, id }]
    })
  }

  /** Why a child is not stored, or undefined when it is to be. */
  #refused(parent: ParentLink, childId: string, firstWithKey: Map<string, string>): SendReceipt | undefined {
    const found = this.#parentOf(parent)
    if (found === undefined) return { id: childId, stored: false, refused: 'lost' }
    if (found.cancel === 1) return { id: childId, stored: false, refused: 'cancelled' }
    const place = `${found.seq}.${parent.key}`
    const existing = this.#parts.edges.child(found.seq, parent.key) ?? firstWithKey.get(place)
    if (existing !== undefined) return { id: existing, stored: false }
    firstWithKey.set(place, childId)
    return undefined
  }

  /** Undefined where it may have no children, or none by this token. */
  #parentOf(parent: ParentLink): { readonly seq: number; readonly cancel: number } | undefined {
    const seq = this.#seqOf(parent)
    if (seq === undefined) return undefined
    const claim = parent.token === null ? null : readToken(parent.token)?.claim
    const found = claim == null ? this.#parent.get(seq) : this.#holds.get(seq, claim, parent.id)
    return found as { seq: number; cancel: number } | undefined
  }

  #seqOf({ id, token }: ParentLink): number | undefined {
    return token === null ? this.#parts.addresses.find(id) : readToken(token)?.seq
  }

  /**
   * First all places, then the edges between them, then what has ended already: the order in which they were sent is of no account.
   * Gives the places of children that were not made, because they wait for their parents.
   */
  #link(envelopes: readonly LinkedEnvelope[], holders: ReadonlyMap<string, string>, now: number): ReadonlySet<number> {
    const { addresses, waiters, endings } = this.#parts
    const seqs = envelopes.map(({ id }) => addresses.find(id))
    envelopes.forEach(({ links, stored }, index) => {
      const { root, parent, longestWaitMs } = links
      if (stored) waiters.add(seqs[index] as number, { root, parent: parent?.id ?? null, longestWaitMs })
    })
    const circular = new Set<number>()
    const over = envelopes.flatMap(({ id, links, stored, ...place }, index) => {
      const seq = seqs[index]
      if (!stored && links.parent !== null && this.#isCircular(seq, links.parent)) {
        circular.add(place.index)
        return []
      }
      return [
        ...(links.parent === null ? [] : this.#addChild(links.parent, id, links.root)),
        ...(stored ? this.#addWaits(seq as number, links, holders, now) : []),
      ]
    })
    for (const { edge, late } of over) endings.resolve(edge, now, late)
    return circular
  }

  /** A holder that is gone waits for nobody. */
  #isCircular(holder: number | undefined, parent: ParentLink): boolean {
    return holder !== undefined && this.#parts.edges.waitsFor(holder, this.#seqOf(parent) as number)
  }

  #addChild(parent: ParentLink, id: string, root: string): readonly LateEdge[] {
    const { waiters } = this.#parts
    const seq = this.#seqOf(parent) as number
    if (waiters.find(seq) === undefined) waiters.add(seq, { root, parent: null, longestWaitMs: parent.longestWaitMs })
    const waiter = waiters.find(seq) as Waiter
    waiters.expect(waiter, waiter.pending + 1)
    return this.#addEdge({ waiter: seq, key: parent.key, policy: parent.onFailure }, id, parent.late ?? null)
  }

  #addWaits(seq: number, links: Links, holders: ReadonlyMap<string, string>, now: number): readonly LateEdge[] {
    const waits = distinctWaits(links)
    if (waits.length === 0) return []
    const { waiters } = this.#parts
    const waiter = waiters.find(seq) as Waiter
    waiters.expect(waiter, waits.length)
    waiters.block(waiter, null, now)
    return waits.flatMap(({ id, onFailure, late = null }) =>
      this.#addEdge({ waiter: seq, key: null, policy: onFailure }, holders.get(id) ?? id, late),
    )
  }

  /** Gives the edge where it leads to no living job. */
  #addEdge({ waiter, key, policy }: EdgeStart, id: string, late: string | null): readonly LateEdge[] {
    const { addresses, edges, waiters } = this.#parts
    const target = addresses.find(id) ?? null
    const found = target === null ? undefined : (this.#target.get(target) as { job: string; state: number })
    const edge = edges.add({ waiter, target, target_id: id, target_job: found?.job ?? null, key, policy })
    if (target !== null) waiters.mark(target)
    return found === undefined || found.state > stateNumber.running ? [{ edge, late }] : []
  }
}

function hasLinks({ rarities }: FlatEnvelopes): boolean {
  for (const { links } of rarities?.values() ?? []) if (links !== null) return true
  return false
}

function linksOf(flat: FlatEnvelopes): readonly (Links | null)[] {
  return Array.from({ length: countOf(flat) }, (_, place) => flat.rarities?.get(place)?.links ?? null)
}
