import type { Steps } from '../../../../core/answer.ts'
import { TreadleError } from '../../../../core/errors.ts'
import type { Envelope } from '../../../../envelope/envelope.ts'
import { type Lane, type LaneFields, laneKey, textOf } from '../../lanes/lane-numbers.ts'
import type { Lanes } from '../../lanes/lanes.ts'

/** The lanes of envelopes that a rule may store or give to jobs. They are found before the transaction that needs them. */
export class NewLanes {
  readonly #lanes: Lanes
  readonly #byText = new Map<string, Lane>()

  constructor(lanes: Lanes) {
    this.#lanes = lanes
  }

  /** `isRecurring`: whether they are for occurrences of schedules. A job stays one, or stays none, however else its lane changes. */
  *prepare(envelopes: readonly LaneFields[], isRecurring: boolean): Steps<void> {
    for (const lane of yield* this.#lanes.of(envelopes, isRecurring)) this.#byText.set(textOf(lane), lane)
  }

  /** Someone who writes to the database can make a row disagree with its lane: then it stays in a lane of the same kind. */
  of(envelope: Envelope, isRecurring: boolean): Lane {
    const text = textOf(laneKey(envelope, isRecurring))
    const lane = this.#byText.get(text) ?? this.#byText.get(textOf(laneKey(envelope, !isRecurring)))
    if (lane === undefined) throw new TreadleError('DATABASE_FAILED', `A rule needs a lane that was not prepared: ${text}`)
    return lane
  }
}
