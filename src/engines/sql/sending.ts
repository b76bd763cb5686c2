import { type Steps, wait } from '../../core/answer.ts'
import { type Envelope, hasTags } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'
import { keyIndexOf } from '../../queue/rules/jobs/job.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { type Counts, lanesIn } from './lanes/counts.ts'
import type { Lane, Lanes } from './lanes/lanes.ts'
import { isJobId } from './rows/lease-token.ts'
import { plainRowOf } from './rows/sent-rows.ts'
import type { SqlDatabase } from './session.ts'
import type { Shortcuts } from './shortcuts.ts'
import type { LoadedQueue } from './units/loaded/loaded-queue.ts'
import { NewLanes } from './units/loaded/new-lanes.ts'
import { childNeed, type Need, needs } from './units/reading/needs.ts'
import type { Units } from './units/units.ts'
import type { Word } from './waking/waker.ts'
import { childKey } from './workflows/edges.ts'

export interface SendingParts {
  readonly database: SqlDatabase
  readonly lanes: Lanes
  readonly counts: Counts
  readonly shortcuts: Shortcuts
  readonly units: Units
}

/** Stores envelopes: those that nothing depends on by a shortcut, all others as the rules decide. */
export class Sending {
  readonly #parts: SendingParts

  constructor(parts: SendingParts) {
    this.#parts = parts
  }

  *send(envelopes: readonly Envelope[], time: QueueTime, word: Word | null = null): Steps<readonly SendReceipt[]> {
    return isPlain(envelopes) ? yield* this.#sendPlainly(envelopes, time, word) : yield* this.#decide(envelopes, time)
  }

  *#sendPlainly(envelopes: readonly Envelope[], time: QueueTime, word: Word | null): Steps<readonly SendReceipt[]> {
    const { database, shortcuts, counts } = this.#parts
    const lanes = yield* this.#parts.lanes.of(envelopes)
    const rows = envelopes.map((envelope, index) => plainRowOf(envelope, lanes[index] as Lane, time))
    const written = yield* wait(shortcuts.store(database, rows, word))
    counts.noteEntries(lanesIn(rows))
    if (written === null) return rows.map(({ id }) => ({ id, stored: true }))
    const stored = new Set(written)
    // Of several with one id, the first was stored.
    const receipts = envelopes.map(({ id }) => (written.has(id) ? { id, stored: stored.delete(id) } : null))
    // The job that has the number of a refused one may be gone by now, so it is sent again.
    const refused = yield* this.#decide(
      envelopes.filter((_, index) => receipts[index] === null),
      time,
    )
    let next = 0
    return receipts.map((receipt) => receipt ?? (refused[next++] as SendReceipt))
  }

  *#decide(envelopes: readonly Envelope[], time: QueueTime): Steps<readonly SendReceipt[]> {
    const due = envelopes.map((envelope) => ({ ...envelope, runAt: time.dueAt(envelope.runAt) }))
    const lanes = new NewLanes(this.#parts.lanes)
    yield* lanes.prepare(due, false)
    const wanted = due.flatMap(sendNeeds)
    const digests = wanted.flatMap(({ kind, name }) => (kind === 'key' ? [name] : []))
    const sent = { ids: due.map(({ id }) => id), digests: [...new Set(digests)].sort(), areRead: wanted.length > 0 }
    const isLinked = due.some(({ links }) => links !== null)
    const rule = (queue: LoadedQueue) => {
      queue.want(wanted)
      if (isLinked) return queue.rules.linking.send(due)
      return due.map((envelope) => queue.jobs.insert(envelope, queue.now, null))
    }
    const decided = yield* this.#parts.units.within(time, (unit) => unit.decide([], rule, lanes, sent), { isAlone: isLinked })
    return decided.answer
  }
}

/** Whether a shortcut may store them. If one of two with the same id has a number that is taken, the other one is stored. */
function isPlain(envelopes: readonly Envelope[]): boolean {
  const isEachPlain = envelopes.every(
    ({ uniqueKey, group, links, identity }) => uniqueKey === null && group === null && links === null && !hasTags(identity),
  )
  if (!isEachPlain || envelopes.every(({ number }) => number === null)) return isEachPlain
  return new Set(envelopes.map(({ id }) => id)).size === envelopes.length
}

/** What is checked before an envelope is stored besides its own id: its number and unique key, and the jobs it depends on. */
export function sendNeeds(envelope: Envelope): readonly Need[] {
  const { number, links } = envelope
  const index = keyIndexOf(envelope)
  const parent = links?.parent ?? null
  return [
    ...needs('job', links?.waitsFor.map((wait) => wait.id) ?? []),
    ...(number === null ? [] : needs('number', [String(number)])),
    ...(index === null ? [] : needs('key', [index])),
    ...(parent === null || !isJobId(parent.id) ? [] : [...needs('job', [parent.id]), childNeed(parent.id, childKey(parent.key))]),
  ]
}
