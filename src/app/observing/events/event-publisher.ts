import type { EventTap } from '../../../core/events.ts'
import { hostName, processId } from '../../../core/process/environment.ts'
import { pause, systemClock, type Timer } from '../../../core/time/clock.ts'
import { tagsOf } from '../../../envelope/envelope.ts'
import type { EventDetail, EventSubject } from '../../../execution/event-details.ts'
import type { TreadleEvents } from '../../../execution/events.ts'
import type { EventChunk, EventStore } from '../../../queue/contract/event-store.ts'
import { isWanted, parseWanted, together, type WantedEvents } from './event-filter.ts'
import { eventText, type HappenedEvent } from './queue-event.ts'

/** For so long it is taken for granted that nobody else has begun to listen. */
const freshMs = 1_000
/** Events wait for each other for so long, and are written together. */
const gatherMs = 100
/** So many wait to be written, of so many characters; more of them are dropped and counted. */
const mostWaiting = 5_000
const mostWaitingChars = 4 * 1024 * 1024
const largestChunk = 64_000
/** While it is asked whether somebody listens. */
const mostUndecided = 1_000
const mostUndecidedChars = 4 * 1024 * 1024
/** A program that ends waits for its last events no longer than this. */
const lastWordsMs = 1_000

export interface EventPublisherDeps {
  readonly store: EventStore
  /** The time of the queue. */
  readonly now: () => number
}

/**
 * Tells other processes what happens in this one, while one of them listens. Whether one does is asked when something happens, and
 * not more often than once a second: a program in which nothing happens asks nothing, and one that nobody listens to writes nothing.
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

  /** Somebody of this very program has begun to listen, or has ended. */
  refresh(): void {
    this.#isStale = true
  }

  /** What was heard until now is written, where that does not take long. */
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
      // Whoever listens misses it: a queue that does not answer has other worries.
      () => this.#decide([]),
    )
  }

  #decide(wanted: readonly WantedEvents[]): void {
    this.#asking = undefined
    this.#wanted = wanted
    // Somebody has begun to listen while it was asked: what happened meanwhile is theirs, too.
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

  /** What those who want it want to know of it; null where nobody wants it. */
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
      // What could not be written is not tried again: those who listen are told how many they missed.
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
