import type { EventTap } from '../../../core/events.ts'
import { hostName, processId } from '../../../core/process/environment.ts'
import { pause, systemClock, type Timer } from '../../../core/time/clock.ts'
import { tagsOf } from '../../../envelope/envelope.ts'
import type { EventDetail, EventSubject } from '../../../execution/event-details.ts'
import type { TreadleEvents } from '../../../execution/events.ts'
import type { EventChunk, EventStore } from '../../../queue/contract/stores/event-store.ts'
import { isWanted, parseWanted, together, type WantedEvents } from './event-filter.ts'
import { eventText, type HappenedEvent } from './queue-event.ts'

/** How long to rely on the last answer about whether other processes listen. */
const freshMs = 1_000
/** How long to collect events before writing them together. */
const gatherMs = 100
/** Maximum number of events waiting to be written, and their maximum total length. Further ones are dropped and counted. */
const mostWaiting = 5_000
const mostWaitingChars = 4 * 1024 * 1024
const largestChunk = 64_000
/** Limits for events held back until it is known whether there are listeners. */
const mostUndecided = 1_000
const mostUndecidedChars = 4 * 1024 * 1024
/** How long a closing program waits for its last events to be written. */
const lastWordsMs = 1_000

export interface EventPublisherDeps {
  readonly store: EventStore
  /** The current time of the queue. */
  readonly now: () => number
}

/**
 * Publishes the events of this process to other processes while one of them listens. It checks for listeners when something
 * happens, at most once a second. So an idle program sends no queries, and without listeners nothing is written.
 */
export class EventPublisher implements EventTap<TreadleEvents, EventSubject> {
  readonly #deps: EventPublisherDeps
  readonly #process = `${hostName()}:${processId()}`
  #wanted: readonly WantedEvents[] = []
  #isStale = true
  #isClosed = false
  #asking: Promise<void> | undefined
  #undecided: HappenedEvent[] = []
  #undecidedChars = 0
  #texts: string[] = []
  #chars = 0
  #dropped = 0
  #writing: Promise<void> | undefined
  #freshness: Timer | undefined
  #gathering: Timer | undefined

  constructor(deps: EventPublisherDeps) {
    this.#deps = deps
  }

  get isOpen(): boolean {
    return (this.#isStale || this.#wanted.length > 0 || this.#asking !== undefined) && !this.#isClosed
  }

  hear<Name extends keyof TreadleEvents>(type: Name, event: TreadleEvents[Name], subject: EventSubject | undefined): void {
    if (this.#isStale && this.#asking === undefined) this.#ask()
    const happened = { type, at: this.#deps.now(), process: this.#process, event, subject }
    if (this.#wanted.length > 0) this.#take(happened)
    else if (this.#asking !== undefined) this.#holdBack(happened)
  }

  /** Called when a listener in this process has started or stopped. */
  refresh(): void {
    this.#isStale = true
  }

  /** Writes the remaining events, unless that takes too long. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#freshness?.cancel()
    const over = new AbortController()
    const written = this.#lastWords().finally(() => over.abort())
    await Promise.race([written, pause(systemClock, lastWordsMs, over.signal)])
  }

  async #lastWords(): Promise<void> {
    await this.#asking
    this.#gathering?.cancel()
    this.#gathering = undefined
    await this.#writing
    while (this.#texts.length > 0) await this.#write()
  }

  #ask(): void {
    this.#isStale = false
    this.#asking = this.#deps.store.wanted().then(
      (wanted) => this.#decide(together(wanted.flatMap(parseWanted))),
      // Listeners miss these events: do not burden a queue that does not respond.
      () => this.#decide([]),
    )
  }

  #decide(wanted: readonly WantedEvents[]): void {
    this.#asking = undefined
    this.#wanted = wanted
    // A listener joined while the check was in progress. It should get the events held back as well.
    if (this.#isStale && !this.#isClosed && this.#undecided.length > 0) {
      this.#ask()
      return
    }
    const undecided = this.#undecided
    this.#undecided = []
    this.#undecidedChars = 0
    if (wanted.length === 0) this.#dropped = 0
    else for (const happened of undecided) this.#take(happened)
    if (this.#isClosed) return
    this.#freshness = systemClock.timer(freshMs, () => this.refresh(), { unref: true })
  }

  #holdBack(happened: HappenedEvent): void {
    const chars = happened.subject?.envelope.payload?.length ?? 0
    if (this.#undecided.length >= mostUndecided || this.#undecidedChars + chars > mostUndecidedChars) {
      this.#dropped++
      return
    }
    this.#undecidedChars += chars
    this.#undecided.push(happened)
  }

  #take(happened: HappenedEvent): void {
    const include = this.#includedIn(happened)
    if (include === null) return
    if (this.#texts.length >= mostWaiting || this.#chars >= mostWaitingChars) {
      this.#dropped++
      return
    }
    const text = eventText(happened, include)
    this.#texts.push(text)
    this.#chars += text.length
    if (this.#writing === undefined) this.#writeSoon()
  }

  /** The details requested by all filters that match; null if none matches. */
  #includedIn({ type, event, subject }: HappenedEvent): ReadonlySet<EventDetail> | null {
    let include: Set<EventDetail> | null = null
    for (const wanted of this.#wanted) {
      const tags = wanted.tags === null || subject === undefined ? {} : { tags: tagsOf(subject.envelope.identity) }
      if (!isWanted(wanted, { ...event, ...tags, type })) continue
      include ??= new Set()
      for (const detail of wanted.include) include.add(detail)
    }
    return include
  }

  #writeSoon(): void {
    this.#gathering ??= systemClock.timer(gatherMs, () => {
      this.#gathering = undefined
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined
        if (this.#texts.length > 0) this.#writeSoon()
      })
    })
  }

  async #write(): Promise<void> {
    const texts = this.#texts
    const dropped = this.#dropped
    this.#texts = []
    this.#chars = 0
    this.#dropped = 0
    try {
      await this.#deps.store.append(chunksOf(texts, dropped))
    } catch {
      // Failed writes are not retried. Listeners are told how many events they missed.
      this.#dropped += texts.length + dropped
    }
  }
}

function chunksOf(texts: readonly string[], dropped: number): readonly EventChunk[] {
  const chunks: EventChunk[] = []
  let part: string[] = []
  let chars = 0
  const end = () => {
    chunks.push({ events: part.length, dropped: chunks.length === 0 ? dropped : 0, text: `[${part.join(',')}]` })
    part = []
    chars = 0
  }
  for (const text of texts) {
    if (part.length > 0 && chars + text.length > largestChunk) end()
    part.push(text)
    chars += text.length + 1
  }
  if (part.length > 0) end()
  return chunks
}
