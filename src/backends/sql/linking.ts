import type { Envelope } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../contract.ts'
import type { Endings } from './endings.ts'
import type { JobsInHand } from './jobs-in-hand.ts'
import type { Lanes } from './lanes.ts'
import type { QueueTime } from './queue-time.ts'
import { refusedChildren } from './refused-children.ts'
import type { Sending } from './sending.ts'
import type { SentRow } from './sent-rows.ts'
import { stateNumber } from './tables.ts'
import { type Taken, Ties } from './ties.ts'
import type { Transactions } from './transactions.ts'
import type { Word } from './waker.ts'

export interface LinkingParts {
  readonly sending: Sending
  readonly transactions: Transactions
  readonly lanes: Lanes
  readonly endings: Endings
}

/** Stores envelopes together with what ties them to each other and to jobs that are there. */
export class Linking {
  readonly #parts: LinkingParts

  constructor(parts: LinkingParts) {
    this.#parts = parts
  }

  async send(envelopes: readonly Envelope[], time: QueueTime, word: Word | null = null): Promise<readonly SendReceipt[]> {
    const { sending, transactions } = this.#parts
    if (envelopes.every(({ links }) => links === null)) return sending.send(envelopes, time, word)
    const rows = await sending.rowsOf(envelopes, time)
    let receipts: readonly SendReceipt[] = []
    await transactions.alone(time, async (hand) => {
      receipts = await this.#sendLinked(hand, envelopes, rows)
    })
    return receipts
  }

  async #sendLinked(hand: JobsInHand, envelopes: readonly Envelope[], rows: readonly SentRow[]): Promise<readonly SendReceipt[]> {
    const refused = await refusedChildren(hand, envelopes)
    const places = envelopes.flatMap((_, index) => (refused.has(index) ? [] : [index]))
    const taken = await this.#store(hand, envelopes, rows, places)
    const receipts = new Map([...refused, ...taken.map(({ receipt }, at) => [places[at] as number, receipt] as const)])
    const holders = new Map(envelopes.map(({ id }, index) => [id, (receipts.get(index) as SendReceipt).id]))
    const circular = await new Ties(hand, taken, holders, this.#parts).tie()
    return envelopes.map((envelope, index) => {
      const { id, ...receipt } = receipts.get(index) as SendReceipt
      const own = { id: holders.get(id) ?? id, ...receipt }
      return circular.has(envelope) ? { ...own, refused: 'circular' } : own
    })
  }

  /** A job that waits, or that somebody in the same batch waits for, is stored as what it is. */
  async #store(
    hand: JobsInHand,
    envelopes: readonly Envelope[],
    rows: readonly SentRow[],
    places: readonly number[],
  ): Promise<readonly Taken[]> {
    const named = new Set(envelopes.flatMap(({ links }) => links?.waitsFor.map(({ id }) => id) ?? []))
    const wanted = places.map((index) => {
      const { id, links } = envelopes[index] as Envelope
      const row = rows[index] as SentRow
      const isBlocked = links !== null && links.waitsFor.length > 0
      return { ...row, state: isBlocked ? stateNumber.blocked : row.state, linked: +(links !== null || named.has(id)) }
    })
    const receipts = await this.#parts.sending.store(hand.session, wanted, hand.now)
    return places.map((index, at) => {
      const isLinked = wanted[at]?.linked === 1
      return { envelope: envelopes[index] as Envelope, receipt: receipts[at] as SendReceipt, isLinked }
    })
  }
}
