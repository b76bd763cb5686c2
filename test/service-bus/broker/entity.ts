import { randomUUID } from 'node:crypto'
import type { Message } from 'rhea'
import type { Clock, Timer } from '../../../src/core/time/clock.ts'

export interface EntitySettings {
  readonly lockMs: number
  readonly maxDeliveryCount: number
  /** Messages with an id that was sent within this time are dropped without a word; null is no duplicate detection. */
  readonly duplicateWindowMs: number | null
}

export interface StoredMessage {
  sequence: number
  readonly message: Message
  readonly properties: Record<string, unknown>
  state: 'active' | 'scheduled'
  /** When a scheduled one becomes active. */
  dueAt: number
  enqueuedAt: number
  /** How often it was handed out in vain. */
  deliveryCount: number
  lock: { readonly token: string; until: number } | null
}

export type Modified = Readonly<Record<string, unknown>>

/** One queue of the test broker, as Service Bus keeps it: locks, schedules, delivery counts and a dead-letter sub-queue. */
export class Entity {
  readonly name: string
  readonly settings: EntitySettings
  readonly deadLetters: Entity | null
  readonly #clock: Clock
  readonly #messages = new Map<number, StoredMessage>()
  readonly #locked = new Map<string, StoredMessage>()
  readonly #seenIds = new Map<string, number>()
  /** Called when a message may have become available. */
  readonly #listeners = new Set<() => void>()
  #timer: Timer | undefined
  #lastSequence = 0
  /** Before this nothing ends by itself: no lock, and no schedule. */
  #nextAt = Number.POSITIVE_INFINITY

  constructor(name: string, settings: EntitySettings, clock: Clock, isDeadLetters = false) {
    this.name = name
    this.settings = settings
    this.#clock = clock
    this.deadLetters = isDeadLetters ? null : new Entity(`${name}/$DeadLetterQueue`, settings, clock, true)
  }

  get size(): number {
    return this.#messages.size
  }

  onAvailable(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Null where it was dropped as a duplicate. */
  add(message: Message, scheduledAt: number | null): StoredMessage | null {
    if (this.#isDuplicate(message)) return null
    const now = this.#clock.now()
    const isLater = scheduledAt !== null && scheduledAt > now
    const stored: StoredMessage = {
      sequence: ++this.#lastSequence,
      message,
      properties: { ...message.application_properties },
      state: isLater ? 'scheduled' : 'active',
      dueAt: scheduledAt ?? now,
      enqueuedAt: now,
      deliveryCount: 0,
      lock: null,
    }
    this.#messages.set(stored.sequence, stored)
    this.#changed(isLater ? stored.dueAt : undefined)
    return stored
  }

  /** Locks the first message that is available. */
  take(): StoredMessage | undefined {
    this.#tick()
    const found = this.#first(({ state, lock }) => state === 'active' && lock === null)
    if (found === undefined) return undefined
    found.lock = { token: randomUUID(), until: this.#clock.now() + this.settings.lockMs }
    this.#locked.set(found.lock.token, found)
    this.#changed(found.lock.until)
    return found
  }

  /** The message whose current lock this is. */
  lockedBy(token: string): StoredMessage | undefined {
    this.#tick()
    return this.#locked.get(token)
  }

  /** Each of these is false where the lock is lost. */
  complete(token: string): boolean {
    const stored = this.#unlock(token)
    if (stored === undefined) return false
    this.#messages.delete(stored.sequence)
    return true
  }

  abandon(token: string, modified: Modified): boolean {
    const stored = this.#unlock(token)
    if (stored === undefined) return false
    Object.assign(stored.properties, modified)
    this.#countDelivery(stored)
    this.#changed()
    return true
  }

  deadLetter(token: string, modified: Modified): boolean {
    const stored = this.#unlock(token)
    if (stored === undefined) return false
    Object.assign(stored.properties, modified)
    this.#bury(stored)
    return true
  }

  renew(token: string): number | undefined {
    const stored = this.lockedBy(token)
    if (stored?.lock == null) return undefined
    stored.lock.until = this.#clock.now() + this.settings.lockMs
    this.#changed()
    return stored.lock.until
  }

  cancelScheduled(sequence: number): boolean {
    this.#tick()
    return this.#messages.get(sequence)?.state === 'scheduled' && this.#messages.delete(sequence)
  }

  /** Everything that is there, locked or scheduled too. */
  peek(from: number, count: number): readonly StoredMessage[] {
    this.#tick()
    return [...this.#messages.values()].filter(({ sequence }) => sequence >= from).slice(0, count)
  }

  /** A broker may drop its locks at any time: when it moves to another machine, say. */
  dropLocks(): void {
    for (const stored of this.#locked.values()) if (stored.lock !== null) stored.lock.until = this.#clock.now()
    this.#nextAt = this.#clock.now()
    this.#tick()
    this.#changed()
  }

  close(): void {
    this.#timer?.cancel()
    this.deadLetters?.close()
  }

  #isDuplicate({ message_id: id }: Message): boolean {
    const { duplicateWindowMs } = this.settings
    if (duplicateWindowMs === null || id === undefined) return false
    const now = this.#clock.now()
    const seenAt = this.#seenIds.get(String(id))
    if (seenAt !== undefined && now - seenAt < duplicateWindowMs) return true
    this.#seenIds.set(String(id), now)
    return false
  }

  #unlock(token: string): StoredMessage | undefined {
    const stored = this.lockedBy(token)
    if (stored === undefined) return undefined
    this.#locked.delete(token)
    stored.lock = null
    return stored
  }

  /** Ends locks and activates messages whose time has come. */
  #tick(): void {
    const now = this.#clock.now()
    if (now < this.#nextAt) return
    for (const [token, stored] of this.#locked) {
      if (stored.lock === null || stored.lock.until > now) continue
      this.#locked.delete(token)
      stored.lock = null
      this.#countDelivery(stored)
    }
    const due = [...this.#messages.values()].filter(({ state, dueAt }) => state === 'scheduled' && dueAt <= now)
    for (const stored of due.sort((a, b) => a.dueAt - b.dueAt || a.sequence - b.sequence)) this.#activate(stored)
    this.#nextAt = this.#earliest()
  }

  /** Service Bus gives a message another sequence number when it becomes active. */
  #activate(stored: StoredMessage): void {
    this.#messages.delete(stored.sequence)
    stored.sequence = ++this.#lastSequence
    stored.state = 'active'
    stored.enqueuedAt = stored.dueAt
    this.#messages.set(stored.sequence, stored)
  }

  #countDelivery(stored: StoredMessage): void {
    stored.deliveryCount++
    if (this.deadLetters === null || stored.deliveryCount < this.settings.maxDeliveryCount) return
    const description = `Message could not be consumed after ${stored.deliveryCount} delivery attempts.`
    Object.assign(stored.properties, { DeadLetterReason: 'MaxDeliveryCountExceeded', DeadLetterErrorDescription: description })
    this.#bury(stored)
  }

  #bury(stored: StoredMessage): void {
    this.#messages.delete(stored.sequence)
    this.deadLetters?.add({ ...stored.message, application_properties: stored.properties }, null)
  }

  /** In the order of their sequence numbers: the latest one is added last. */
  #first(isWanted: (stored: StoredMessage) => boolean): StoredMessage | undefined {
    for (const stored of this.#messages.values()) if (isWanted(stored)) return stored
    return undefined
  }

  #earliest(): number {
    let earliest = Number.POSITIVE_INFINITY
    for (const { lock, state, dueAt } of this.#messages.values()) {
      if (lock !== null) earliest = Math.min(earliest, lock.until)
      else if (state === 'scheduled') earliest = Math.min(earliest, dueAt)
    }
    return earliest
  }

  /** Somebody may wait for what is available now, or at this time. */
  #changed(at = Number.POSITIVE_INFINITY): void {
    for (const listener of this.#listeners) listener()
    if (at >= this.#nextAt) return
    this.#nextAt = at
    this.#wait()
  }

  #wait(): void {
    this.#timer?.cancel()
    if (this.#nextAt === Number.POSITIVE_INFINITY) return
    this.#timer = this.#clock.timer(this.#nextAt - this.#clock.now(), () => this.#fire(), { unref: true })
  }

  #fire(): void {
    this.#tick()
    this.#wait()
    this.#changed()
  }
}
