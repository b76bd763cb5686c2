import type { Clock } from '../../core/time/clock.ts'
import type { Backlog, BacklogCount } from '../../queue/contract/backlog.ts'
import type { ReceivedMessage } from './connections/client.ts'
import type { Entity } from './connections/entity.ts'
import type { EntityNames } from './connections/entity-names.ts'
import { readMessage } from './messages/message.ts'
import { sequenceNumber } from './messages/sequence-number.ts'

export interface EntityCountsDeps {
  readonly clock: Clock
  readonly names: EntityNames
  readonly entity: (name: string) => Entity
  readonly deadLettersOf: (name: string) => Entity
}

/** Of one entity. Counting more would read more: the rest is not counted. */
const mostCounted = 1_000
const largestPart = 250

type CountedState = Exclude<keyof BacklogCount, 'queue'>

/**
 * Counts messages by peeking, which locks nothing and needs no right to manage the namespace. If the broker does not say that a
 * message is locked, it counts as ready.
 */
export class EntityCounts implements Backlog {
  readonly #deps: EntityCountsDeps

  constructor(deps: EntityCountsDeps) {
    this.#deps = deps
  }

  async counts(): Promise<readonly BacklogCount[]> {
    const { clock, names, entity, deadLettersOf } = this.#deps
    const counts = new Map<string, Record<CountedState, number>>()
    const add = (queue: string, state: CountedState) => {
      const known = counts.get(queue) ?? { ready: 0, scheduled: 0, running: 0, dead: 0 }
      known[state]++
      counts.set(queue, known)
    }
    for (const name of names.known) {
      for (const message of await peeked(entity(name))) add(this.#queueOf(message, name), stateOf(message, clock.now()))
      for (const message of await peeked(deadLettersOf(name))) add(this.#queueOf(message, name), 'dead')
    }
    return [...counts].map(([queue, each]) => ({ queue, ...each }))
  }

  /** A message that is no job counts under the name of its entity. */
  #queueOf(message: ReceivedMessage, entityName: string): string {
    try {
      return readMessage(message, this.#deps.clock.now()).envelope.queue
    } catch {
      return entityName
    }
  }
}

async function peeked(entity: Entity): Promise<readonly ReceivedMessage[]> {
  const found: ReceivedMessage[] = []
  for (let from = 0n; found.length < mostCounted; ) {
    const messages = await entity.peek(largestPart, sequenceNumber(from))
    if (messages.length === 0) break
    found.push(...messages)
    from = BigInt(String(messages.at(-1)?.sequenceNumber)) + 1n
  }
  return found.slice(0, mostCounted)
}

function stateOf({ state, lockedUntilUtc }: ReceivedMessage, now: number): CountedState {
  if (state === 'scheduled') return 'scheduled'
  return lockedUntilUtc !== undefined && lockedUntilUtc.getTime() > now ? 'running' : 'ready'
}
