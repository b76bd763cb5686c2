import { type Steps, wait } from '../../../core/answer.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { SendReceipt } from '../../../queue/contract/contract.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import type { SentRow } from '../rows/sent-rows.ts'
import { stateNumber } from '../rows/tables.ts'
import type { Transactions } from '../transactions/transactions.ts'
import type { Word } from '../waking/waker.ts'
import type { Endings } from '../workflows/endings.ts'
import { refusedChildren } from './refused-children.ts'
import type { Sending } from './sending.ts'
import { type Taken, WorkflowLinks } from './workflow-links.ts'

export interface LinkingParts {
  readonly sending: Sending
  readonly transactions: Transactions
  readonly lanes: Lanes
  readonly endings: Endings
}

/** Stores envelopes together with their links to each other and to existing jobs. */
export class Linking {
  readonly #parts: LinkingParts

  constructor(parts: LinkingParts) {
    this.#parts = parts
  }

  *send(envelopes: readonly Envelope[], time: QueueTime, word: Word | null = null): Steps<readonly SendReceipt[]> {
    const { sending, transactions } = this.#parts
    if (envelopes.every(({ links }) => links === null)) return yield* sending.send(envelopes, time, word)
    const rows = yield* sending.rowsOf(envelopes, time)
    return yield* wait(transactions.alone(time, (hand) => this.#sendLinked(hand, envelopes, rows)))
  }

  *#sendLinked(hand: LoadedJobs, envelopes: readonly Envelope[], rows: readonly SentRow[]): Steps<readonly SendReceipt[]> {
    const refused = yield* refusedChildren(hand, envelopes)
    const places = envelopes.flatMap((_, index) => (refused.has(index) ? [] : [index]))
    const taken = yield* this.#store(hand, envelopes, rows, places)
    const receipts = new Map([...refused, ...taken.map(({ receipt }, at) => [places[at] as number, receipt] as const)])
    const holders = new Map(envelopes.map(({ id }, index) => [id, (receipts.get(index) as SendReceipt).id]))
    const circular = yield* new WorkflowLinks(hand, taken, holders, this.#parts).tie()
    return envelopes.map((envelope, index) => {
      const { id, ...receipt } = receipts.get(index) as SendReceipt
      const own = { id: holders.get(id) ?? id, ...receipt }
      return circular.has(envelope) ? { ...own, refused: 'circular' } : own
    })
  }

  /** A job that waits, or that another job in the same batch waits for, is stored as blocked or linked right away. */
  *#store(
    hand: LoadedJobs,
    envelopes: readonly Envelope[],
    rows: readonly SentRow[],
    places: readonly number[],
  ): Steps<readonly Taken[]> {
    const named = new Set(envelopes.flatMap(({ links }) => links?.waitsFor.map(({ id }) => id) ?? []))
    const wanted = places.map((index) => {
      const { id, links } = envelopes[index] as Envelope
      const row = rows[index] as SentRow
      const isBlocked = links !== null && links.waitsFor.length > 0
      return { ...row, state: isBlocked ? stateNumber.blocked : row.state, linked: +(links !== null || named.has(id)) }
    })
    const receipts = yield* this.#parts.sending.store(hand.session, wanted, hand.now)
    return places.map((index, at) => {
      const isLinked = wanted[at]?.linked === 1
      return { envelope: envelopes[index] as Envelope, receipt: receipts[at] as SendReceipt, isLinked }
    })
  }
}
