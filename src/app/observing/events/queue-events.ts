import type { JobEvents } from '../../../execution/job-events.ts'
import { queueClock } from '../../../queue/time/queue-clock.ts'
import type { Opened } from '../../config/opening.ts'
import { EventFeed, noEvents } from './event-feed.ts'
import { checkedOptions, type ServedEventsOptions } from './event-options.ts'
import { EventPublisher } from './event-publisher.ts'
import { BufferedEvents, type EventStream } from './event-stream.ts'

export interface QueueEventsDeps {
  readonly events: JobEvents
  readonly open: () => Promise<Opened>
}

/** Both directions of a queue's events: those that this process publishes, and those that it receives from all processes. */
export class QueueEvents {
  readonly #deps: QueueEventsDeps
  #publisher: EventPublisher | undefined
  #feed: EventFeed | undefined
  #isClosed = false

  constructor(deps: QueueEventsDeps) {
    this.#deps = deps
  }

  /** From now on, other processes can receive events of this one. */
  start({ backend, settings }: Pick<Opened, 'backend' | 'settings'>): void {
    const store = backend.store?.events
    if (store === undefined || this.#publisher !== undefined) return
    const clock = queueClock(backend, settings.clock)
    this.#publisher = new EventPublisher({ store, now: () => clock.now() })
    this.#deps.events.tap = this.#publisher
  }

  stream(options: ServedEventsOptions): EventStream {
    const { wanted, buffer, after } = checkedOptions(options)
    const { signal, sees = null, lingerMs = 0, decrypt = true } = options
    const onClose = async () => {
      signal?.removeEventListener('abort', abort)
      await this.#feed?.leave(stream, lingerMs)
    }
    const stream = new BufferedEvents({ wanted, buffer, sees, decrypts: decrypt, onClose })
    const abort = () => void stream.close()
    if (signal?.aborted) stream.end()
    else {
      signal?.addEventListener('abort', abort)
      this.#join(stream, after).catch((thrown: unknown) => stream.fail(thrown))
    }
    return stream
  }

  /** Ends all streams and writes the remaining events. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#publisher?.close()
    await this.#feed?.close()
    this.#deps.events.tap = null
  }

  async #join(stream: BufferedEvents, after: string | null): Promise<void> {
    const { backend, keys, settings } = await this.#deps.open()
    const store = backend.store?.events
    if (store === undefined) throw noEvents(backend.kind)
    if (stream.isOver) return
    if (this.#isClosed) {
      stream.end()
      return
    }
    const clock = queueClock(backend, settings.clock)
    this.#feed ??= new EventFeed({
      store,
      keys,
      logger: settings.logger,
      now: () => clock.now(),
      onListening: () => this.#publisher?.refresh(),
    })
    this.#feed.join(stream, after)
  }
}
