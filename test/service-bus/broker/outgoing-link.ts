import rhea, { type Delivery, type Sender } from 'rhea'
import { systemClock } from '../../../src/core/time/clock.ts'
import type { Entity, Modified } from './entity.ts'
import { conditions, outgoing, tagOf, tokenOfTag } from './wire.ts'

/** A link on which messages of an entity are handed out, each under a lock, as far as its receiver has given credit. */
export class OutgoingLink {
  readonly sender: Credited
  readonly entity: Entity
  readonly #drainDelayMs: () => number
  readonly #stopListening: () => void
  /** The receiver wants no locks: a message is gone when it is sent. */
  readonly #deletes: boolean
  readonly #answers: (() => void)[] = []
  #isPending = false
  #isDraining = false
  #isClosed = false

  constructor(sender: Sender, entity: Entity, drainDelayMs: () => number) {
    this.sender = sender as Credited
    this.entity = entity
    this.#drainDelayMs = drainDelayMs
    this.#deletes = sender.snd_settle_mode === 1
    this.#stopListening = entity.onAvailable(() => this.#pumpSoon())
    sender.on('sender_flow', () => this.#pumpSoon())
    sender.on('sender_draining', () => {
      this.#isDraining = true
      this.#pumpSoon()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#stopListening()
  }

  /** False where the lock is lost. */
  settle({ tag, remote_state: state }: Delivery, outcome: string): boolean {
    const token = tokenOfTag(tag)
    if (outcome === 'accepted') return this.entity.complete(token)
    if (outcome === 'rejected') return this.entity.deadLetter(token, (state?.error?.info ?? {}) as Modified)
    return this.entity.abandon(token, (state?.message_annotations ?? {}) as Modified)
  }

  answer(delivery: Delivery, isApplied: boolean): void {
    const lost = {
      condition: conditions.lockLost,
      description: 'The lock supplied is invalid. Either the lock expired, or the message has already been removed.',
    }
    this.#answers.push(() =>
      delivery.update(true, (isApplied ? outcomes.accepted() : outcomes.rejected({ error: lost })).described()),
    )
    if (this.#answers.length === 1) setImmediate(() => this.#answerNext())
  }

  /** Each in a turn of its own: rhea gives the second of two neighbours the outcome of the first. */
  #answerNext(): void {
    this.#answers.shift()?.()
    if (this.#answers.length > 0) setImmediate(() => this.#answerNext())
  }

  /** In a later turn: by then the credit counts what was sent before. */
  #pumpSoon(): void {
    if (this.#isPending) return
    this.#isPending = true
    setImmediate(() => {
      this.#isPending = false
      if (!this.#isClosed) this.#pump()
    })
  }

  #pump(): void {
    for (let room = this.sender.credit; room > 0; room--) {
      const stored = this.entity.take()
      if (stored?.lock == null) break
      const { token } = stored.lock
      this.sender.send(outgoing(stored), tagOf(token))
      if (this.#deletes) this.entity.complete(token)
    }
    if (!this.#isDraining) return
    this.#isDraining = false
    const delayMs = this.#drainDelayMs()
    if (delayMs === 0) this.#drained()
    else systemClock.timer(delayMs, () => this.#drained())
  }

  #drained(): void {
    // rhea answers only where credit is left; Service Bus answers also where the last messages have used it up.
    const { _get_drain: usual } = this.sender
    this.sender._get_drain = () => {
      this.sender._get_drain = usual
      usual.call(this.sender)
      return true
    }
    this.sender.set_drained(true)
    this.sender.connection._register()
  }
}

/** What rhea has and its types leave out. */
interface Outcome {
  described(): unknown
}
type Credited = Sender & {
  readonly credit: number
  readonly connection: { _register(): void }
  _get_drain: () => boolean
}
type Outcomes = typeof rhea.message & { accepted(): Outcome; rejected(fields: object): Outcome }

const outcomes = rhea.message as Outcomes
