import type { Envelope } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'
import { distinctJobs } from '../broker/distinct-jobs.ts'
import type { Entity } from './connections/entity.ts'
import { freshState, toMessage } from './messages/message.ts'
import { refuseUnsupportedJobs } from './refusals.ts'

export interface SendingDeps {
  readonly entityOf: (envelope: Envelope) => Entity
  readonly uniqueKeys: 'refused' | 'carried'
  readonly now: number
}

/**
 * Sends jobs that are due and schedules the others. Jobs for the same entity and time form one batch, if its size allows, which
 * is stored entirely or not at all. If only some of several batches are stored, all can be sent again with duplicate detection.
 */
export async function sendAll(
  envelopes: readonly Envelope[],
  { entityOf, uniqueKeys, now }: SendingDeps,
): Promise<readonly SendReceipt[]> {
  refuseUnsupportedJobs(envelopes, uniqueKeys)
  const distinct = distinctJobs(envelopes)
  const groups = grouped(distinct.jobs, entityOf)
  await Promise.all([...groups].map(([entity, jobs]) => sendTo(entity, jobs, now)))
  return distinct.receipts
}

async function sendTo(entity: Entity, envelopes: readonly Envelope[], now: number): Promise<void> {
  const byTime = grouped(envelopes, ({ runAt }) => Math.max(runAt, now))
  await Promise.all(
    [...byTime].map(async ([at, jobs]) => {
      const messages = jobs.map((envelope) => toMessage(envelope, freshState))
      if (at === now) await entity.send(messages)
      else await entity.schedule(messages, at)
    }),
  )
}

function grouped<Key>(envelopes: readonly Envelope[], keyOf: (envelope: Envelope) => Key): ReadonlyMap<Key, readonly Envelope[]> {
  const groups = new Map<Key, Envelope[]>()
  for (const envelope of envelopes) {
    const key = keyOf(envelope)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [envelope])
    else group.push(envelope)
  }
  return groups
}
