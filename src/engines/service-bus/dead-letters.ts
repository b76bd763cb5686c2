import type { Clock } from '../../core/time/clock.ts'
import type { AttemptError } from '../../queue/contract/failure.ts'
import type { ReceivedMessage } from './connections/client.ts'
import type { Entity } from './connections/entity.ts'
import type { EntityNames } from './connections/entity-names.ts'
import { freshState, type ReadMessage, readMessage, toMessage } from './messages/message.ts'
import { sequenceNumber } from './messages/sequence-number.ts'

/** A message in a dead-letter queue, usually a job. */
export interface DeadJob {
  /** The job's id, or the message's if it is not a job. */
  readonly id: string
  readonly job: string | null
  readonly queue: string | null
  readonly reason: string | null
  readonly description: string | null
  readonly attempts: number
  readonly errors: readonly AttemptError[]
}

/** Which dead-lettered messages to read. */
export interface DeadJobFilter {
  /** Only this queue; by default all that the program knows. */
  readonly queue?: string
  readonly ids?: readonly string[]
  /** 100 by default. */
  readonly limit?: number
}

export interface DeadLettersDeps {
  readonly clock: Clock
  readonly names: EntityNames
  readonly entityOf: (queue: string, priority: number) => Entity
  readonly deadLettersOf: (name: string) => Entity
}

const defaultLimit = 100
const largestPart = 250

/** Lists, replays and removes dead jobs. */
export class DeadLetters {
  readonly #deps: DeadLettersDeps

  constructor(deps: DeadLettersDeps) {
    this.#deps = deps
  }

  /** Oldest first within each queue. Locks nothing. */
  async list(filter: DeadJobFilter = {}): Promise<readonly DeadJob[]> {
    const { limit = defaultLimit } = filter
    const found: DeadJob[] = []
    for (const entity of this.#entities(filter)) {
      for (let from = 0n; found.length < limit; ) {
        const messages = await entity.peek(largestPart, sequenceNumber(from))
        found.push(...messages.map((message) => this.#describe(message)).filter((job) => isWanted(job, filter)))
        if (messages.length === 0) break
        from = BigInt(String(messages.at(-1)?.sequenceNumber)) + 1n
      }
    }
    return found.slice(0, limit)
  }

  /**
   * Puts dead jobs back with all their attempts and keeps their errors. Returns how many. Messages that are not jobs stay where
   * they are.
   */
  async replay(filter: DeadJobFilter = {}): Promise<number> {
    return this.#forEach(filter, async (entity, message) => {
      const job = this.#read(message)
      if (job === undefined) return false
      const { envelope, state } = job
      const target = this.#deps.entityOf(envelope.queue, envelope.priority)
      const runAt = this.#deps.clock.now()
      await target.send([toMessage({ ...envelope, runAt }, { ...freshState, errors: state.errors, copy: state.copy + 1 })])
      return entity.complete(message)
    })
  }

  /** Deletes them and returns how many. */
  async remove(filter: DeadJobFilter = {}): Promise<number> {
    return this.#forEach(filter, (entity, message) => entity.complete(message))
  }

  /** Holds unwanted messages until the end, so that none is received twice. */
  async #forEach(filter: DeadJobFilter, act: (entity: Entity, message: ReceivedMessage) => Promise<boolean>): Promise<number> {
    const { limit = defaultLimit } = filter
    let count = 0
    for (const entity of this.#entities(filter)) {
      const others: ReceivedMessage[] = []
      try {
        while (count < limit) {
          const messages = await entity.receive(Math.min(limit - count, largestPart))
          if (messages.length === 0) break
          for (const message of messages) {
            if (isWanted(this.#describe(message), filter) && (await act(entity, message))) count++
            else others.push(message)
          }
        }
      } finally {
        await Promise.allSettled(others.map((message) => entity.abandon(message, {})))
      }
    }
    return count
  }

  #entities({ queue }: DeadJobFilter): readonly Entity[] {
    const { names, deadLettersOf } = this.#deps
    const wanted = names.byLevel(queue === undefined ? null : [queue]).flat()
    return [...new Set(wanted)].map(deadLettersOf)
  }

  #read(message: ReceivedMessage): ReadMessage | undefined {
    try {
      return readMessage(message, this.#deps.clock.now())
    } catch {
      return undefined
    }
  }

  #describe(message: ReceivedMessage): DeadJob {
    const read = this.#read(message)
    return {
      id: read?.envelope.id ?? String(message.messageId),
      job: read?.envelope.job ?? null,
      queue: read?.envelope.queue ?? null,
      reason: message.deadLetterReason ?? null,
      description: message.deadLetterErrorDescription ?? null,
      attempts: read?.state.attempts ?? 0,
      errors: read?.state.errors ?? [],
    }
  }
}

function isWanted({ id, queue }: DeadJob, filter: DeadJobFilter): boolean {
  return (filter.ids?.includes(id) ?? true) && (filter.queue === undefined || queue === null || filter.queue === queue)
}
