import { isUnreachable } from '../../core/errors.ts'
import { type Clock, pause, systemClock } from '../../core/time/clock.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'

/** How long a call waits for an unreachable database: time for a restart or a failover. */
const longPatienceMs = 10_000
/** A database that is being opened may never have existed, so the caller should learn that soon. */
const openingPatienceMs = 500
const firstPauseMs = 50
const longestPauseMs = 1_000

/**
 * Repeats a call that could not reach the database. The previous call may have been carried out although its response was lost,
 * so a repeated call must find out what already exists.
 */
export async function repeating<Answer>(
  call: (isRepeated: boolean) => Promise<Answer>,
  clock: Clock,
  patienceMs = longPatienceMs,
): Promise<Answer> {
  const giveUpAt = clock.now() + patienceMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await call(pauseMs > firstPauseMs)
    } catch (thrown) {
      if (!isUnreachable(thrown) || clock.now() + pauseMs > giveUpAt) throw thrown
    }
    await pause(clock, pauseMs)
  }
}

/** Opens a queue, retrying if a connection is lost on the way. */
export function openAgain<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  return repeating(open, systemClock, openingPatienceMs)
}

/** A job that already exists when its envelope is sent again was stored by the first attempt, whose response was lost. */
export function sendAgain(
  envelopes: readonly Envelope[],
  send: () => Promise<readonly SendReceipt[]>,
  clock: Clock,
): Promise<readonly SendReceipt[]> {
  return repeating(async (isRepeated) => {
    const receipts = await send()
    return isRepeated ? receiptsOfFirst(envelopes, receipts) : receipts
  }, clock)
}

function receiptsOfFirst(envelopes: readonly Envelope[], receipts: readonly SendReceipt[]): readonly SendReceipt[] {
  const unseen = new Set(envelopes.map(({ id }) => id))
  return receipts.map((receipt, index) => {
    const { id } = envelopes[index] as Envelope
    const isFirst = unseen.delete(id)
    return isFirst && receipt.id === id && receipt.refused === undefined ? { ...receipt, stored: true } : receipt
  })
}
