import type { Steps } from '../../../core/answer.ts'
import type { Envelope, FailurePolicy, Links, ParentLink } from '../../../envelope/envelope.ts'
import type { SendReceipt } from '../../../queue/contract/contract.ts'
import { distinctWaits, lateEnd } from '../../../queue/workflows/waiting.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { type JobRow, rowEnded } from '../rows/job-row.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { childKey, endOf, type NewEdge, targetOf } from '../workflows/edges.ts'
import type { Endings } from '../workflows/endings.ts'
import type { Waiter } from '../workflows/loaded-waiters.ts'

/** An envelope and what happened to it: it was stored, or another job has its unique key. */
export interface Taken {
  readonly envelope: Envelope
  readonly receipt: SendReceipt
  /** Whether it was stored as part of a workflow. */
  readonly isLinked: boolean
}

export interface WorkflowLinksParts {
  readonly lanes: Lanes
  readonly endings: Endings
}

type Tie = Omit<NewEdge, 'target_job'>

/** The links of the jobs of one batch to each other and to existing jobs. */
export class WorkflowLinks {
  readonly #hand: LoadedJobs
  readonly #batch: readonly Taken[]
  /** The jobs that stand for the ones that were sent, by the ids of the latter. */
  readonly #holders: ReadonlyMap<string, string>
  readonly #parts: WorkflowLinksParts
  readonly #stored: ReadonlyMap<string, Taken>
  readonly #ties: Tie[] = []
  /** The seal that the waiting job supplies for a job that succeeded before anything waited for it, by both ids. */
  readonly #late = new Map<string, string | null>()

  constructor(hand: LoadedJobs, batch: readonly Taken[], holders: ReadonlyMap<string, string>, parts: WorkflowLinksParts) {
    this.#hand = hand
    this.#batch = batch
    this.#holders = holders
    this.#parts = parts
    this.#stored = new Map(batch.flatMap((taken) => (taken.receipt.stored ? [[taken.receipt.id, taken]] : [])))
  }

  /**
   * First all places, then the edges between them, then what has already ended, so that the order of sending does not matter.
   * Returns the children that were refused because the jobs that stand for them wait for their parents.
   */
  *tie(): Steps<ReadonlySet<Envelope>> {
    const { waiters } = this.#hand
    const parents = this.#batch.flatMap(({ envelope }) => envelope.links?.parent?.id ?? [])
    yield* waiters.read(parents)
    for (const { envelope, receipt } of this.#batch) {
      if (receipt.stored && envelope.links !== null) waiters.add(newWaiter(envelope.id, envelope.links, this.#hand.now))
    }
    const circular = new Set<Envelope>()
    for (const taken of this.#batch) if (!(yield* this.#tieOne(taken))) circular.add(taken.envelope)
    yield* this.#write()
    return circular
  }

  /** False for a child that waits for its parent: a circular reference. */
  *#tieOne({ envelope: { links }, receipt: { id, stored } }: Taken): Steps<boolean> {
    if (links === null) return true
    if (links.parent !== null) {
      if (!stored && (yield* this.#waitsFor(id, links.parent.id))) return false
      this.#addChild(links.parent, id, links.root)
    }
    if (!stored) return true
    for (const { id: other, onFailure, late = null } of distinctWaits(links)) {
      const target = this.#holders.get(other) ?? other
      this.#late.set(placeOf({ waiter: id, ...targetOf(target) }), late)
      this.#add(id, target, null, onFailure)
    }
    return true
  }

  #addChild({ id, key, onFailure, longestWaitMs, late = null }: ParentLink, child: string, root: string): void {
    const { waiters, now } = this.#hand
    if (waiters.get(id) === undefined) {
      waiters.add(newWaiter(id, { root, parent: null, waitsFor: [], longestWaitMs }, now))
      this.#hand.change(id, { linked: 1 })
    }
    const { pending, stands_in } = waiters.get(id) as Waiter
    waiters.change(id, { pending: pending + 1, stands_in: onFailure === 'rescue' ? 1 : stands_in })
    this.#late.set(placeOf({ waiter: id, ...targetOf(child) }), late)
    this.#add(id, child, key, onFailure)
  }

  #add(waiter: string, id: string, key: string | null, policy: FailurePolicy): void {
    this.#ties.push({ waiter, ...targetOf(id), child_key: key === null ? null : childKey(key), child_name: key, policy })
  }

  /** Whether a job cannot end before another one has. A job counts as waiting for itself. */
  *#waitsFor(from: string, to: string): Steps<boolean> {
    const reached = new Set([from])
    for (let last = [from]; last.length > 0 && !reached.has(to); ) {
      const waiters = new Set(last)
      const ties = [...(yield* this.#hand.edges.awaitedBy(last)), ...this.#ties.filter(({ waiter }) => waiters.has(waiter))]
      last = ties.map(({ target }) => target).filter((id) => !reached.has(id))
      for (const id of last) reached.add(id)
    }
    return reached.has(to)
  }

  *#write(): Steps<void> {
    const targets = [...new Set(this.#ties.map(({ target }) => target))]
    const others = targets.filter((id) => this.#stored.get(id)?.isLinked !== true)
    const rows = new Map((yield* this.#hand.lock(others)).map((row) => [row.id, row]))
    for (const { id, linked } of rows.values()) if (linked === 0) this.#hand.change(id, { linked: 1 })
    const jobOf = (id: string) => this.#stored.get(id)?.envelope.job ?? this.#jobOf(rows.get(id))
    yield* this.#hand.edges.add(this.#ties.map((tie) => ({ ...tie, target_job: jobOf(tie.target) })))
    const over = others.filter((id) => {
      const row = rows.get(id)
      return row === undefined || rowEnded(row)
    })
    if (over.length > 0) yield* this.#tellOf(over)
  }

  #jobOf(row: JobRow | undefined): string | null {
    return row === undefined ? null : this.#parts.lanes.get(row.lane).job
  }

  /** Some of the jobs they wait for have already ended, or never existed. */
  *#tellOf(targets: readonly string[]): Steps<void> {
    const { endings } = this.#parts
    const hand = this.#hand
    yield* hand.readLeft(targets)
    yield* endings.readWaiters(hand, yield* hand.edges.read(targets))
    const words = targets.flatMap((id) => {
      const end = endOf(hand.get(id), hand.leftBy(id))
      return hand.edges.on(id).map((edge) => ({ edge, end: lateEnd(end, this.#late.get(placeOf(edge)) ?? null) }))
    })
    yield* endings.hear(
      hand,
      words.sort((a, b) => a.edge.edge - b.edge.edge),
    )
  }
}

function placeOf({ waiter, target }: Pick<Tie, 'waiter' | 'target'>): string {
  return `${waiter} ${target}`
}

function newWaiter(id: string, links: Links, now: number): Waiter {
  const waits = distinctWaits(links)
  return {
    id,
    root: links.root,
    parent: links.parent?.id ?? null,
    longest_wait_ms: links.longestWaitMs,
    pending: waits.length,
    gives_up_at: waits.length === 0 ? null : now + links.longestWaitMs,
    doom: null,
    ending: null,
    stands_in: +waits.some(({ onFailure }) => onFailure === 'rescue'),
  }
}
