import type { Steps } from '../../../core/answer.ts'
import { readEnding } from '../../../queue/model/spoilt.ts'
import { type End, failureText, nothingToRescue, verdictOf } from '../../../queue/workflows/waiting.ts'
import type { OnceMarks } from '../keys/once-marks.ts'
import type { JobRow } from '../rows/job-row.ts'
import type { LoadedJobs, Waiting } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import { type Edge, endOf, linkOf } from './edges.ts'
import type { Doom, Waiter } from './loaded-waiters.ts'
import { relink } from './relinking.ts'
import { endFor, unblock } from './waiting-jobs.ts'

/** Notifies a waiting job of the end of another job. */
export interface Word {
  readonly edge: Edge
  readonly end: End
}

/** What the end of a job means for the jobs that wait for it: they continue, or end as well. */
export class Endings implements Waiting {
  readonly #onceMarks: OnceMarks

  constructor(onceMarks: OnceMarks) {
    this.#onceMarks = onceMarks
  }

  /** Notifies of all jobs that have ended before handling the consequences. */
  *tell(hand: LoadedJobs): Steps<void> {
    const ended = hand.takeUntold()
    yield* this.readWaiters(hand, yield* hand.edges.read(ended.map(({ id }) => id)))
    const words = ended.flatMap((row) => {
      const end = endOf(row, hand.leftBy(row.id))
      return hand.edges.on(row.id).map((edge) => ({ edge, end }))
    })
    yield* this.hear(hand, words)
  }

  relink(hand: LoadedJobs, ids: readonly string[]): Steps<void> {
    return relink(hand, ids)
  }

  /** Locks and reads waiting jobs. */
  *readWaiters(hand: LoadedJobs, ids: readonly string[]): Steps<void> {
    yield* hand.lock(ids)
    yield* hand.waiters.read(ids)
  }

  /** Notifies jobs that were read of ends, one after the other. */
  *hear(hand: LoadedJobs, words: readonly Word[]): Steps<void> {
    yield* this.#readLeft(hand, mayBeFree(hand, words))
    const done: Waiter[] = []
    for (const word of words) this.#hearOne(hand, word, done)
    yield* this.#leave(hand, done)
  }

  /** For blocked jobs that have nothing left to wait for. */
  *allEnded(hand: LoadedJobs, ids: readonly string[]): Steps<void> {
    const waiters = ids.map((id) => hand.waiters.get(id) as Waiter)
    yield* this.#readLeft(hand, waiters)
    const done: Waiter[] = []
    for (const waiter of waiters) this.#release(hand, waiter, done)
    yield* this.#leave(hand, done)
  }

  /** Reads what decides how jobs continue: which jobs they stand in for, and what their handlers have left. */
  *#readLeft(hand: LoadedJobs, waiters: readonly Waiter[]): Steps<void> {
    yield* hand.edges.readRescues(waiters.filter(({ stands_in }) => stands_in === 1).map(({ id }) => id))
    yield* hand.readLeft(waiters.filter(({ ending }) => ending !== null).map(({ id }) => id))
  }

  #hearOne(hand: LoadedJobs, { edge, end }: Word, done: Waiter[]): void {
    const isAwaited = hand.edges.isAwaited(edge)
    const ended = hand.edges.end(edge, end)
    const waiter = hand.waiters.get(edge.waiter)
    const row = hand.get(edge.waiter)
    if (!isAwaited || waiter === undefined || row === undefined) return
    const isBlocked = row.state === stateNumber.blocked
    const pending = waiter.pending - 1
    hand.waiters.change(waiter.id, { pending })
    switch (verdictOf(edge.policy, end)) {
      case 'counts':
        if (isBlocked && pending === 0) this.#release(hand, waiter, done)
        return
      case 'releases':
        hand.edges.detach(waiter.id)
        hand.waiters.change(waiter.id, { pending: 0 })
        if (isBlocked) this.#goOn(hand, waiter, row, done)
        return
      case 'fails':
      case 'skips':
        if (isBlocked) endFor(hand, row, doomOf(ended))
        else if (waiter.doom === null) hand.waiters.change(waiter.id, { doom: JSON.stringify(doomOf(ended)) })
    }
  }

  #release(hand: LoadedJobs, waiter: Waiter, done: Waiter[]): void {
    const row = hand.get(waiter.id) as JobRow
    if (hand.edges.hasNothingToRescue(waiter.id)) endFor(hand, row, { isSkipped: true, why: nothingToRescue })
    else this.#goOn(hand, waiter, row, done)
  }

  #goOn(hand: LoadedJobs, waiter: Waiter, row: JobRow, done: Waiter[]): void {
    if (waiter.ending === null) {
      unblock(hand, row)
      return
    }
    hand.change(waiter.id, { state: stateNumber.succeeded, finished_at: hand.now })
    if (!readEnding(waiter.ending).keep) hand.remove(waiter.id)
    done.push(waiter)
  }

  /** Does what the handlers of finished jobs have left to do. */
  *#leave(hand: LoadedJobs, done: readonly Waiter[]): Steps<void> {
    for (const { id, ending } of done) {
      const { once } = readEnding(ending)
      yield* this.#onceMarks.keep(hand.session, once, hand.leftBy(id).result, hand.now)
    }
  }
}

/** The jobs that may have nothing left to wait for after these notifications. */
function mayBeFree(hand: LoadedJobs, words: readonly Word[]): readonly Waiter[] {
  const counts = new Map<string, number>()
  for (const { edge } of words) {
    const count = edge.policy === 'continue' ? Number.POSITIVE_INFINITY : 1
    counts.set(edge.waiter, (counts.get(edge.waiter) ?? 0) + count)
  }
  return [...counts].flatMap(([id, count]) => {
    const waiter = hand.waiters.get(id)
    return waiter !== undefined && waiter.pending <= count ? [waiter] : []
  })
}

export function doomOf(edge: Edge): Doom {
  const link = linkOf(edge, null)
  return { isSkipped: edge.policy === 'skip', why: failureText({ ...link, state: link.state as End['state'] }) }
}
