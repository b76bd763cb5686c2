import { messageOf, TreadleError } from '../../../core/errors.ts'
import { randomToken } from '../../../core/id.ts'
import type { Logger } from '../../../core/logger.ts'
import { hostName, processId } from '../../../core/process/environment.ts'
import { pause, stopwatch, systemClock } from '../../../core/time/clock.ts'
import type { KeyRing } from '../../../envelope/keys/key-ring.ts'
import type { EventStore, StoredEventChunk } from '../../../queue/contract/stores/event-store.ts'
import { isFinal } from '../../../worker/loop/persistent.ts'
import { together } from './event-filter.ts'
import { type BufferedEvents, parsePosition, positionText } from './event-stream.ts'
import { isSealed, type QueueEvent, readEvent } from './queue-event.ts'

/** How long a listener that was killed still counts as listening. */
const ttlMs = 15_000
const renewMs = 5_000
/** How often to poll for events. */
const lookMs = 200
const longestLookMs = 2_000
/** Maximum number of chunks per read. */
const chunksAtOnce = 20

export interface EventFeedDeps {
  readonly store: EventStore
  readonly keys: KeyRing | null
  readonly logger: Logger
  /** The current time of the queue. */
  readonly now: () => number
  /** Called when this process starts or stops listening, so that its own publisher notices immediately. */
  readonly onListening: () => void
}

interface Joining {
  readonly stream: BufferedEvents
  /** The position after which to start; null means after the latest event. */
  readonly after: string | null
}

/** The events of the queue for all readers in this process. They are read once for all readers, and only while there is one. */
export class EventFeed {
  readonly #deps: EventFeedDeps
  readonly #id = `${hostName()}:${processId()}:${randomToken()}`
  readonly #streams = new Set<BufferedEvents>()
  #joining: Joining[] = []
  #position = { epoch: 0, number: 0 }
  #isListening = false
  #wants = '[]'
  #hasChanged = false
  #running: Promise<void> | undefined
  #nap = new AbortController()
  #lingerUntil: (() => boolean) | null = null

  constructor(deps: EventFeedDeps) {
    this.#deps = deps
  }

  join(stream: BufferedEvents, after: string | null): void {
    this.#streams.add(stream)
    this.#joining.push({ stream, after })
    this.#hasChanged = true
    this.#lingerUntil = null
    this.#wake()
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** If the last reader comes back within `lingerMs`, it has missed nothing. */
  async leave(stream: BufferedEvents, lingerMs: number): Promise<void> {
    this.#streams.delete(stream)
    this.#joining = this.#joining.filter((each) => each.stream !== stream)
    this.#hasChanged = true
    if (this.#streams.size > 0) return
    const elapsedMs = stopwatch()
    this.#lingerUntil = lingerMs > 0 ? () => elapsedMs() >= lingerMs : null
    this.#wake()
    if (lingerMs === 0) await this.#running
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.end()
    this.#streams.clear()
    this.#lingerUntil = null
    this.#wake()
    await this.#running
  }

  get #isWanted(): boolean {
    return this.#streams.size > 0 || this.#lingerUntil?.() === false
  }

  #wake(): void {
    this.#nap.abort()
  }

  async #run(): Promise<void> {
    let sinceRenewed = stopwatch()
    let failures = 0
    while (this.#isWanted) {
      this.#nap = new AbortController()
      try {
        if (this.#hasChanged || !this.#isListening || sinceRenewed() >= renewMs) {
          await this.#listen()
          sinceRenewed = stopwatch()
        }
        await this.#admit()
        const isBehind = await this.#look()
        failures = 0
        if (isBehind) continue
      } catch (thrown) {
        if (!this.#isListening || isFinal(thrown)) this.#failAll(thrown)
        else if (failures++ === 0) this.#deps.logger.warn(`events could not be read, which is tried again: ${messageOf(thrown)}`)
      }
      await pause(systemClock, Math.min(lookMs * 2 ** failures, longestLookMs), this.#nap.signal)
    }
    await this.#end()
  }

  /** The queue cannot provide events at all, or not any more, so the readers fail. */
  #failAll(thrown: unknown): void {
    for (const stream of this.#streams) stream.fail(thrown)
    this.#streams.clear()
    this.#joining = []
  }

  async #listen(): Promise<void> {
    this.#hasChanged = false
    // While the last reader may come back, keep recording what it wanted.
    if (this.#streams.size > 0) this.#wants = JSON.stringify(together([...this.#streams].map(({ wanted }) => wanted)))
    const { epoch, last } = await this.#deps.store.listen({ id: this.#id, wants: this.#wants }, ttlMs)
    // Report a gap if the epoch changed: this listener expired during a long stall, so events may not have been recorded.
    if (this.#isListening && epoch !== this.#position.epoch) this.#tellDropped(this.#streams, null)
    if (!this.#isListening || epoch !== this.#position.epoch) this.#position = { epoch, number: last }
    this.#isListening = true
    this.#deps.onListening()
  }

  /** Readers that resume after a given position first get the events that followed it. */
  async #admit(): Promise<void> {
    for (const { stream, after } of this.#joining.splice(0)) {
      stream.begun()
      const from = after === null ? null : parsePosition(after)
      if (after === null) continue
      if (from === null || from.epoch !== this.#position.epoch) this.#tellDropped([stream], null)
      else await this.#catchUp(stream, from.number)
    }
  }

  async #catchUp(stream: BufferedEvents, from: number): Promise<void> {
    let after = from
    while (after < this.#position.number) {
      const chunks = await this.#deps.store.read(after, chunksAtOnce)
      if (chunks.length === 0) break
      for (const chunk of chunks) {
        if (chunk.first > this.#position.number) break
        after = this.#deliver([stream], chunk, after, this.#position.number)
      }
    }
    if (after < this.#position.number) this.#tellDropped([stream], this.#position.number - after)
  }

  /** Returns whether there may be more to read immediately. */
  async #look(): Promise<boolean> {
    const chunks = await this.#deps.store.read(this.#position.number, chunksAtOnce)
    for (const chunk of chunks) {
      const number = this.#deliver(this.#streams, chunk, this.#position.number, chunk.last)
      this.#position = { ...this.#position, number }
    }
    return chunks.length === chunksAtOnce
  }

  /** Delivers the events of a chunk after `after` and up to `upTo`. Returns the last number. */
  #deliver(streams: Iterable<BufferedEvents>, chunk: StoredEventChunk, after: number, upTo: number): number {
    const isKnown = chunk.first <= chunk.last
    const missed = (isKnown ? chunk.first - 1 : chunk.last) - after
    if (missed > 0) this.#tellDropped(streams, missed)
    const { epoch } = this.#position
    for (const [index, text] of eventsIn(chunk).entries()) {
      const number = chunk.first + index
      if (number <= after || number > upTo) continue
      const position = positionText({ epoch, number })
      const shown = readEvent(text, position, null)
      if (shown === null) continue
      const opened = isSealed(text) ? readEvent(text, position, this.#deps.keys) : shown
      for (const stream of streams) stream.offer((stream.decrypts ? opened : shown) ?? shown)
    }
    return Math.min(chunk.last, upTo)
  }

  #tellDropped(streams: Iterable<BufferedEvents>, count: number | null): void {
    const { now } = this.#deps
    const process = `${hostName()}:${processId()}`
    const event: QueueEvent = { type: 'dropped', at: now(), position: positionText(this.#position), process, count }
    for (const stream of streams) stream.offer(event)
  }

  async #end(): Promise<void> {
    const wasListening = this.#isListening
    this.#isListening = false
    this.#lingerUntil = null
    // A row that cannot be removed expires by itself.
    if (wasListening) await this.#deps.store.leave(this.#id).catch(() => {})
    this.#deps.onListening()
    // A reader may have joined while this loop was ending.
    if (this.#streams.size > 0) await this.#run()
  }
}

function eventsIn({ text }: StoredEventChunk): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}

/** The error for a backend that cannot provide events. */
export function noEvents(kind: string): TreadleError {
  const message = `The ${kind} backend cannot pass events to other processes: it has no store. jobs.on(…) receives those of this process; a queue in a database, Redis or memory those of all`
  return new TreadleError('CAPABILITY_MISSING', message)
}
