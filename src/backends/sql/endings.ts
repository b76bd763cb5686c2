import { readEnding } from '../spoilt.ts'
import { type End, failureText, nothingToRescue, verdictOf } from '../waiting.ts'
import { type Edge, endOf, linkOf } from './edges.ts'
import type { JobRow } from './job-row.ts'
import type { JobsInHand, Waiting } from './jobs-in-hand.ts'
import type { OnceMarks } from './once-marks.ts'
import { relink } from './relinking.ts'
import { stateNumber } from './tables.ts'
import type { Doom, Waiter } from './waiters-in-hand.ts'
import { endFor, unblock } from './waiting-jobs.ts'

/** The word that one job which waits gets of the end of another. */
export interface Word {
  readonly edge: Edge
  readonly end: End
}

/** The end of a job, as far as those are concerned who wait for it: they go on, or end as well. */
export class Endings implements Waiting {
  readonly #onceMarks: OnceMarks

  constructor(onceMarks: OnceMarks) {
    this.#onceMarks = onceMarks
  }

  /** All that have ended are told of before anything that follows from it is. */
  async tell(hand: JobsInHand): Promise<void> {
    const ended = hand.takeUntold()
    await this.readWaiters(hand, await hand.edges.read(ended.map(({ id }) => id)))
    const words = ended.flatMap((row) => {
      const end = endOf(row, hand.leftBy(row.id))
      return hand.edges.on(row.id).map((edge) => ({ edge, end }))
    })
    await this.hear(hand, words)
  }

  relink(hand: JobsInHand, ids: readonly string[]): Promise<void> {
    return relink(hand, ids)
  }

  /** Takes jobs that wait in hand. */
  async readWaiters(hand: JobsInHand, ids: readonly string[]): Promise<void> {
    await hand.lock(ids)
    await hand.waiters.read(ids)
  }

  /** Lets jobs that were read hear of ends, one after the other. */
  async hear(hand: JobsInHand, words: readonly Word[]): Promise<void> {
    await this.#readLeft(hand, mayBeFree(hand, words))
    const done: Waiter[] = []
    for (const word of words) this.#hearOne(hand, word, done)
    await this.#leave(hand, done)
  }

  /** Blocked jobs have nothing left to wait for. */
  async allEnded(hand: JobsInHand, ids: readonly string[]): Promise<void> {
    const waiters = ids.map((id) => hand.waiters.get(id) as Waiter)
    await this.#readLeft(hand, waiters)
    const done: Waiter[] = []
    for (const waiter of waiters) this.#release(hand, waiter, done)
    await this.#leave(hand, done)
  }

  /** What decides on those that go on: in whose place they run, and what their handlers have left behind. */
  async #readLeft(hand: JobsInHand, waiters: readonly Waiter[]): Promise<void> {
    await hand.edges.readRescues(waiters.filter(({ stands_in }) => stands_in === 1).map(({ id }) => id))
    await hand.readLeft(waiters.filter(({ ending }) => ending !== null).map(({ id }) => id))
  }

  #hearOne(hand: JobsInHand, { edge, end }: Word, done: Waiter[]): void {
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

  #release(hand: JobsInHand, waiter: Waiter, done: Waiter[]): void {
    const row = hand.get(waiter.id) as JobRow
    if (hand.edges.hasNothingToRescue(waiter.id)) endFor(hand, row, { isSkipped: true, why: nothingToRescue })
    else this.#goOn(hand, waiter, row, done)
  }

  #goOn(hand: JobsInHand, waiter: Waiter, row: JobRow, done: Waiter[]): void {
    if (waiter.ending === null) {
      unblock(hand, row)
      return
    }
    hand.change(waiter.id, { state: stateNumber.succeeded, finished_at: hand.now })
    if (!readEnding(waiter.ending).keep) hand.remove(waiter.id)
    done.push(waiter)
  }

  /** What the handlers of jobs that are done have left to be done. */
  async #leave(hand: JobsInHand, done: readonly Waiter[]): Promise<void> {
    for (const { id, ending } of done) {
      const { once } = readEnding(ending)
      await this.#onceMarks.keep(hand.session, once, hand.leftBy(id).result, hand.now)
    }
  }
}

/** Those that may have nothing left to wait for when they have heard all this. */
function mayBeFree(hand: JobsInHand, words: readonly Word[]): readonly Waiter[] {
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

function doomOf(edge: Edge): Doom {
  const link = linkOf(edge, null)
  return { isSkipped: edge.policy === 'skip', why: failureText({ ...link, state: link.state as End['state'] }) }
}
