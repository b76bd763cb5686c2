import type { Clock } from '../../../core/time/clock.ts'
import type { Envelope, FailurePolicy, Links, ParentLink } from '../../../envelope/envelope.ts'
import type { SendReceipt } from '../../contract/contract.ts'
import type { StoredJob } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { type Endings, gone, type Waiter } from './endings.ts'
import { newLinks, type StoredEdge } from './links.ts'
import type { Trees } from './trees.ts'
import { distinctWaits, type End, isSuccess, lateEnd } from './waiting.ts'

export interface LinkingParts {
  readonly clock: Pick<Clock, 'now'>
  readonly jobs: Jobs
  readonly trees: Trees
  readonly endings: Endings
}

interface NewEdge {
  readonly edge: StoredEdge
  readonly late: string | null
}

interface SentJob {
  /** Null if it was not stored or waits for others. */
  readonly job: StoredJob | null
  /** What it waits for, and the edge from its parent. */
  readonly edges: readonly NewEdge[]
}

/** Links jobs to each other when they are sent, and when they are put back. */
export class Linking {
  readonly #parts: LinkingParts

  constructor(parts: LinkingParts) {
    this.#parts = parts
  }

  /**
   * First stores all jobs, then their edges, then handles what has already ended, so that the order of the batch does not matter.
   * Only then do the jobs that wait for nothing become ready, in this order, so that their groups take turns in it.
   */
  send(envelopes: readonly Envelope[]): readonly SendReceipt[] {
    const { jobs, clock } = this.#parts
    if (envelopes.every(({ links }) => links === null)) return envelopes.map((each) => jobs.insert(each, clock.now(), null))
    const receipts = envelopes.map((envelope) => this.#insert(envelope))
    const holders = new Map(envelopes.map(({ id }, index) => [id, receipts[index]?.id ?? id]))
    const sent = envelopes.map(({ id, links }, index): SentJob => {
      const { stored, refused } = receipts[index] as SendReceipt
      const job = stored ? this.#job(id) : null
      if (links === null || refused !== undefined) return { job, edges: [] }
      const waits = job === null ? [] : this.#addWaits(job as Waiter, links, holders)
      return { job: waits.length > 0 ? null : job, edges: [...this.#childEdge(links.parent), ...waits] }
    })
    this.#start(sent)
    return receipts
  }

  /**
   * A job that was put back waits again for those of its dependencies that have not ended. Failed children are dropped, so that
   * its next run creates them again.
   */
  relink(ids: readonly string[]): void {
    for (const id of ids) if (this.#parts.jobs.get(id)?.links != null) this.#relinkOne(this.#job(id))
  }

  #insert(envelope: Envelope): SendReceipt {
    const { jobs, trees, clock } = this.#parts
    const { links } = envelope
    if (links === null) return jobs.insert(envelope, clock.now(), null, 'blocked')
    const parent = links.parent === null ? null : this.#parentOf(links.parent)
    if (parent === undefined) return { id: envelope.id, stored: false, refused: 'lost' }
    if (parent?.cancelRequested === true) return { id: envelope.id, stored: false, refused: 'cancelled' }
    const existing = parent?.links?.children.get(links.parent?.key as string)
    if (existing !== undefined) return { id: existing.id, stored: false }
    const receipt = jobs.insert(envelope, clock.now(), null, 'blocked')
    if (!receipt.stored && parent !== null && this.#waitsFor(receipt.id, parent.envelope.id))
      return { ...receipt, refused: 'circular' }
    if (receipt.stored) trees.add(this.#job(receipt.id), newLinks(links.root, parent?.envelope.id ?? null, links.longestWaitMs))
    if (parent !== null) this.#addChild(parent, links, receipt.id)
    return receipt
  }

  /** Whether one job cannot end before another has. A job counts as waiting for itself. */
  #waitsFor(from: string, to: string): boolean {
    const reached = new Set([from])
    for (const id of reached) {
      for (const edge of this.#parts.jobs.get(id)?.links?.edges.awaited ?? []) reached.add(edge.id)
    }
    return reached.has(to)
  }

  /** Undefined if its lease is lost. A job whose handler was called before can only be blocked by its children. */
  #parentOf({ id, token }: ParentLink): StoredJob | undefined {
    if (token === null) {
      const job = this.#parts.jobs.get(id)
      const isFree = job?.state === 'running' || (job?.state === 'blocked' && job.startedAt !== null)
      return isFree ? job : undefined
    }
    const holder = this.#parts.jobs.byToken(token)
    return holder?.envelope.id === id ? holder : undefined
  }

  #addChild(parent: StoredJob, { root, parent: link }: Links, id: string): void {
    const { key, onFailure, longestWaitMs } = link as ParentLink
    if (parent.links === null) this.#parts.trees.add(parent, newLinks(root, null, longestWaitMs))
    this.#addEdge(parent as Waiter, id, key, onFailure)
  }

  #childEdge(link: ParentLink | null): readonly NewEdge[] {
    const edge = link === null ? undefined : this.#parentOf(link)?.links?.children.get(link.key)
    return edge === undefined ? [] : [{ edge, late: link?.late ?? null }]
  }

  #addWaits(waiter: Waiter, links: Links, holders: ReadonlyMap<string, string>): readonly NewEdge[] {
    // Two of them may be one job, which holds a unique key that both were sent with. It may even be the waiting job itself.
    const meant = links.waitsFor.map((link) => ({ ...link, id: holders.get(link.id) ?? link.id }))
    const waits = distinctWaits(meant.filter(({ id }) => id !== waiter.envelope.id))
    if (waits.length > 0) this.#block(waiter)
    return waits.map(({ id, onFailure, late }) => ({ edge: this.#addEdge(waiter, id, null, onFailure), late: late ?? null }))
  }

  #addEdge(waiter: Waiter, id: string, key: string | null, policy: FailurePolicy): StoredEdge {
    const job = this.#parts.jobs.get(id)?.envelope.job ?? null
    const edge = { waiterId: waiter.envelope.id, id, job, key, policy, waiting: true, end: null }
    waiter.links.edges.add(edge)
    if (key !== null) waiter.links.children.set(key, edge)
    this.#parts.endings.expect(waiter, edge)
    return edge
  }

  /** Notifies of all earlier ends before handling anything that follows from them. */
  #start(sent: readonly SentJob[]): void {
    const { endings, jobs, clock } = this.#parts
    const missed = sent.map(({ job, edges }) => ({ job, ends: edges.flatMap((edge) => this.#missedEnd(edge) ?? []) }))
    const now = clock.now()
    endings.together(() => {
      for (const { job, ends } of missed) {
        for (const { edge, end } of ends) endings.resolve(edge, end)
        if (job !== null) jobs.move(job, job.runAt > now ? 'scheduled' : 'ready')
      }
    })
  }

  #missedEnd({ edge, late }: NewEdge): { readonly edge: StoredEdge; readonly end: End } | undefined {
    const end = edge.end === null ? this.#parts.endings.missed(edge) : undefined
    return end === undefined ? undefined : { edge, end: lateEnd(end, late) }
  }

  #relinkOne(waiter: Waiter): void {
    const { endings } = this.#parts
    const { links } = waiter
    Object.assign(links, { pending: 0, doom: null, ending: null })
    for (const edge of links.edges.all) {
      const missed = endings.missed(edge)
      if (missed === undefined) endings.expect(waiter, edge)
      else if (missed !== gone || edge.end === null) edge.end = lateEnd(missed, edge.end?.seal ?? null)
    }
    for (const [key, { end }] of links.children) if (end !== null && !isSuccess(end)) links.children.delete(key)
    links.edges.keep(({ key }) => key === null || links.children.has(key))
    if (links.edges.all.some(({ key, end }) => key === null && end === null)) this.#block(waiter)
  }

  #block(waiter: Waiter): void {
    const { jobs, clock } = this.#parts
    waiter.links.givesUpAt = clock.now() + waiter.links.longestWaitMs
    jobs.move(waiter, 'blocked')
  }

  #job(id: string): Waiter {
    return this.#parts.jobs.get(id) as Waiter
  }
}
