import { isUnreachable } from '../../core/errors.ts'
import type { Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import { type FinalState, isFinal } from '../../queue/contract/job-state.ts'
import type { RedisServer } from './connections/server.ts'
import { ownedJobs } from './store/owned-jobs.ts'
import { claimOf, type Head, idOf, readHead, tokenOf } from './units/head.ts'
import { field } from './units/needs.ts'

/** Maximum number of calls to remember. The rest can be forgotten: leases expire by themselves. */
const mostRemembered = 10_000

/** Calls whose answers were lost. Whether they were applied is found out before it matters. */
export class UnconfirmedCalls {
  readonly #server: RedisServer
  readonly #settle: (settlements: readonly Settlement[]) => Promise<readonly SettleReceipt[]>
  /** The owner of each claim. */
  readonly #claims = new Map<string, string>()
  /** The tokens of settlements. */
  readonly #tokens = new Set<string>()

  constructor(server: RedisServer, settle: (settlements: readonly Settlement[]) => Promise<readonly SettleReceipt[]>) {
    this.#server = server
    this.#settle = settle
  }

  async watchClaim<Answer>(owner: string, claim: string, act: () => Promise<Answer>): Promise<Answer> {
    try {
      return await act()
    } catch (thrown) {
      if (isUnreachable(thrown) && this.#claims.size < mostRemembered) this.#claims.set(claim, owner)
      throw thrown
    }
  }

  /** Returns jobs to the queue that were leased by a claim whose answer was lost. No attempt is counted. */
  async giveBackClaims(): Promise<void> {
    if (this.#claims.size === 0) return
    const lost = new Map(this.#claims)
    const heads = await this.#headsOf(await ownedJobs(this.#server, [...lost.values()]))
    const held = [...heads].filter(([, { state, claim }]) => state === 'running' && lost.has(claim))
    await this.#settle(held.map(([id, { claim }]) => ({ token: tokenOf(claim, id), kind: 'snooze', delayMs: 0 })))
    for (const claim of lost.keys()) this.#claims.delete(claim)
  }

  /** If a job has ended and its last lease was this one, an earlier call had already ended it. */
  async watchSettlements(
    settlements: readonly Settlement[],
    act: () => Promise<readonly SettleReceipt[]>,
  ): Promise<readonly SettleReceipt[]> {
    try {
      const receipts = await act()
      if (this.#tokens.size === 0) return receipts
      return await this.#receiptsOfFirst(settlements, receipts)
    } catch (thrown) {
      if (isUnreachable(thrown) && this.#tokens.size < mostRemembered) {
        for (const { token } of settlements) this.#tokens.add(token)
      }
      throw thrown
    }
  }

  async #receiptsOfFirst(
    settlements: readonly Settlement[],
    receipts: readonly SettleReceipt[],
  ): Promise<readonly SettleReceipt[]> {
    const isDoubtful = settlements.map(({ token }, index) => this.#tokens.has(token) && receipts[index] === 'lost')
    const doubtful = settlements.filter((_, index) => isDoubtful[index])
    const heads = await this.#headsOf(doubtful.map(({ token }) => idOf(token)))
    for (const { token } of settlements) this.#tokens.delete(token)
    return receipts.map((receipt, index) => {
      const settlement = settlements[index] as Settlement
      return isDoubtful[index] ? firstReceipt(settlement, heads.get(idOf(settlement.token))) : receipt
    })
  }

  async #headsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Head>> {
    const texts = await this.#server.read(ids.map((id) => field('h', id)))
    return new Map(ids.flatMap((id, index) => (typeof texts[index] === 'string' ? [[id, readHead(texts[index])]] : [])))
  }
}

const endOf: Readonly<Partial<Record<Settlement['kind'], FinalState>>> = {
  done: 'succeeded',
  dead: 'dead',
  cancelled: 'cancelled',
  skipped: 'skipped',
}

function firstReceipt(settlement: Settlement, head: Head | undefined): SettleReceipt {
  // A job that was not to be kept leaves nothing behind.
  if (head === undefined) return 'keep' in settlement && !settlement.keep ? 'applied' : 'lost'
  if (head.claim !== claimOf(settlement.token)) return 'lost'
  if (head.state === 'blocked') return settlement.kind === 'wait' ? 'applied' : 'blocked'
  if (!isFinal(head.state)) return 'lost'
  if (head.state === endOf[settlement.kind]) return 'applied'
  return head.state === 'cancelled' ? 'cancelled' : 'lost'
}
