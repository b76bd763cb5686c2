import type { Clock } from '../../../core/time/clock.ts'
import type { Watchers } from '../../backend/watchers.ts'
import { isFinal } from '../../contract/job-state.ts'
import { type StoredJob, unresulted, withError } from '../jobs/job.ts'
import type { Jobs, JobsListener } from '../jobs/jobs.ts'
import type { OnceKeys } from '../keys/once-keys.ts'
import type { Edges } from './edges.ts'
import { type Doom, doomOf, type StoredEdge, type StoredLinks } from './links.ts'
import type { Trees } from './trees.ts'
import { type End, impatienceText, isSuccess, nothingToRescue, verdictOf } from './waiting.ts'

export interface EndingsParts {
  readonly clock: Pick<Clock, 'now'>
  readonly jobs: Jobs
  readonly once: OnceKeys
  readonly trees: Trees
  readonly edges: Edges
  readonly watchers: Pick<Watchers, 'notify'>
}

/** A job that waits for others, or may. */
export type Waiter = StoredJob & { links: StoredLinks }

/** The end of a job that does not exist. */
export const gone: End = { state: 'missing', result: null, seal: null, error: null }

/** Passes the end of a job on to the jobs that wait for it: they continue, or end as well. */
export class Endings implements JobsListener {
  readonly #parts: EndingsParts
  readonly #untold: { readonly id: string; readonly end: End }[] = []
  #isTelling = false

  constructor(parts: EndingsParts) {
    this.#parts = parts
    parts.jobs.listen(this)
  }

  ended(job: StoredJob): void {
    const { once, edges } = this.#parts
    if (job.links !== null) {
      job.links.ending = null
      once.release(job)
    }
    if (!edges.has(job.envelope.id)) return
    this.#untold.push({ id: job.envelope.id, end: endOf(job) })
    this.#tellAll()
  }

  deleted(job: StoredJob): void {
    const state = isFinal(job.state) ? job.state : null
    if (job.links !== null) {
      this.#parts.trees.forget(job as Waiter, state)
      this.#parts.edges.removeAll(job.links.edges)
    }
    if (state !== null) return
    this.#untold.push({ id: job.envelope.id, end: gone })
    this.#tellAll()
  }

  /** Whether a job is part of a workflow, or another job waits for it. */
  isLinked({ links, envelope }: StoredJob): boolean {
    return links !== null || this.#parts.edges.has(envelope.id)
  }

  /** Makes a job wait, for the first time or again. */
  expect({ links }: Waiter, edge: StoredEdge): void {
    links.pending++
    edge.waiting = true
    edge.end = null
    this.#parts.edges.add(edge)
  }

  /** An end that a waiting job was not notified of; undefined if there is none. */
  missed({ id }: StoredEdge): End | undefined {
    const target = this.#parts.jobs.get(id)
    if (target === undefined) return gone
    return isFinal(target.state) ? endOf(target) : undefined
  }

  /** Notifies a waiting job of an end that it missed. */
  resolve(edge: StoredEdge, end: End): void {
    this.#parts.edges.remove(edge)
    this.#tell(edge, end)
    this.#tellAll()
  }

  /** Notifies waiting jobs only after all of these have ended, so that none ends because of another. */
  together(work: () => void): void {
    this.#isTelling = true
    work()
    this.#isTelling = false
    this.#tellAll()
  }

  /** Ends jobs that have waited too long, one after the other: the end of one may release the next. */
  giveUp(now: number): void {
    const { blocked } = this.#parts.jobs
    for (let job = blocked.peek() as Waiter | undefined; job !== undefined && job.links.givesUpAt <= now; ) {
      const awaited = job.links.edges.awaited
      this.#fail(job, impatienceText(awaited, awaited.length, job.links.longestWaitMs))
      job = blocked.peek() as Waiter | undefined
    }
  }

  /** Ends a job because of one that it waited for. */
  failFor(waiter: Waiter, { isSkipped, why }: Doom): void {
    if (isSkipped) this.#skip(waiter, why)
    else this.#fail(waiter, why)
  }

  /** A blocked job has nothing left to wait for. */
  allEnded(waiter: Waiter): void {
    const { rescues } = waiter.links.edges
    if (rescues.length > 0 && rescues.every(({ end }) => end !== null && isSuccess(end))) this.#skip(waiter, nothingToRescue)
    else this.#release(waiter)
  }

  /** Iterates instead of recursing: a chain of jobs that fail one after the other may be long. */
  #tellAll(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    for (let next = 0; next < this.#untold.length; next++) {
      const { id, end } = this.#untold[next] as { id: string; end: End }
      for (const edge of this.#parts.edges.take(id)) this.#tell(edge, end)
    }
    this.#untold.length = 0
    this.#isTelling = false
  }

  #tell(edge: StoredEdge, end: End): void {
    edge.end = end
    if (!edge.waiting) return
    edge.waiting = false
    const waiter = this.#parts.jobs.get(edge.waiterId) as Waiter | undefined
    if (waiter === undefined) return
    const { links } = waiter
    const isBlocked = waiter.state === 'blocked'
    links.pending--
    switch (verdictOf(edge.policy, end)) {
      case 'counts':
        if (isBlocked && links.pending === 0) this.allEnded(waiter)
        return
      case 'releases':
        links.edges.detach()
        links.pending = 0
        if (isBlocked) this.#release(waiter)
        return
      case 'fails':
      case 'skips':
        if (isBlocked) this.failFor(waiter, doomOf(edge))
        else links.doom ??= doomOf(edge)
    }
  }

  #release(waiter: Waiter): void {
    const { jobs, clock, once, watchers } = this.#parts
    const now = clock.now()
    const { ending } = waiter.links
    watchers.notify()
    if (ending === null) {
      once.release(waiter)
      jobs.move(waiter, waiter.runAt > now ? 'scheduled' : 'ready')
      return
    }
    if (ending.once !== null) once.keep(ending.once, waiter.result, now)
    jobs.move(waiter, 'succeeded', { finishedAt: now })
    if (!ending.keep) jobs.delete(waiter)
  }

  #skip(waiter: Waiter, why: string): void {
    this.#parts.jobs.move(waiter, 'skipped', {
      finishedAt: this.#parts.clock.now(),
      reason: why,
      ...unresulted,
      token: null,
    })
  }

  #fail(waiter: Waiter, message: string): void {
    const now = this.#parts.clock.now()
    const errors = withError(waiter, { attempt: waiter.attempts, at: now, message })
    this.#parts.jobs.move(waiter, 'dead', { finishedAt: now, reason: 'dependency', ...unresulted, errors, token: null })
  }
}

function endOf({ state, result, seal, reason, errors }: StoredJob): End {
  const end = { state: state as End['state'], result, seal }
  return { ...end, error: isSuccess(end) ? null : (errors.at(-1)?.message ?? reason) }
}
