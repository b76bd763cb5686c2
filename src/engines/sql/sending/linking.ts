import { type Steps, wait } from '../../../core/answer.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { SendReceipt } from '../../../queue/contract/contract.ts'
import { keyIndexOf } from '../../../queue/rules/jobs/job.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { isJobId } from '../rows/lease-token.ts'
import { childNeed, type Need, needs } from '../units/needs.ts'
import { NewLanes } from '../units/new-lanes.ts'
import type { Units } from '../units/units.ts'
import type { Word } from '../waking/waker.ts'
import { childKey } from '../workflows/edges.ts'
import type { Sending } from './sending.ts'

export interface LinkingParts {
  readonly sending: Sending
  readonly units: Units
  readonly lanes: Lanes
}

/** Stores envelopes together with their links to each other and to existing jobs. */
export class Linking {
  readonly #parts: LinkingParts

  constructor(parts: LinkingParts) {
    this.#parts = parts
  }

  *send(envelopes: readonly Envelope[], time: QueueTime, word: Word | null = null): Steps<readonly SendReceipt[]> {
    const { sending, units } = this.#parts
    if (envelopes.every(({ links }) => links === null)) return yield* sending.send(envelopes, time, word)
    const due = envelopes.map((envelope) => ({ ...envelope, runAt: time.dueAt(envelope.runAt) }))
    const lanes = new NewLanes(this.#parts.lanes)
    yield* lanes.prepare(due, false)
    const wanted = due.flatMap(sendNeeds)
    const ids = wanted.filter(({ kind }) => kind === 'job').map(({ name }) => name)
    const decided = units.alone(time, (unit) =>
      unit.decide(
        ids,
        (queue) => {
          queue.want(wanted)
          return queue.rules.linking.send(due)
        },
        lanes,
      ),
    )
    return (yield* wait(decided)).answer
  }
}

/** What is checked before an envelope is stored: whether its id, number or unique key exists, and the jobs it depends on. */
export function sendNeeds(envelope: Envelope): readonly Need[] {
  const { id, number, links } = envelope
  const index = keyIndexOf(envelope)
  const parent = links?.parent ?? null
  return [
    ...needs('job', [id, ...(links?.waitsFor.map((wait) => wait.id) ?? [])]),
    ...(number === null ? [] : needs('number', [String(number)])),
    ...(index === null ? [] : needs('key', [index])),
    ...(parent === null || !isJobId(parent.id) ? [] : [...needs('job', [parent.id]), childNeed(parent.id, childKey(parent.key))]),
  ]
}
