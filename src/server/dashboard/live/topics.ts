import { type Clock, stopwatchOf, type Timer } from '../../../core/time/clock.ts'
import { problemOf } from '../../http/wire/http-problem.ts'
import type { Viewer } from '../access/viewer.ts'
import type { LiveViews } from './live-views.ts'
import { type Looked, TopicVersion } from './topic-version.ts'

const mostTopics = 20
const mostStreams = 200
const heartbeatMs = 15_000
/** All views together take at most one part in this many of the time, however many people watch them. */
const restFactor = 40
/** However busy the process and its database are, pages are not older than this. */
const longestRestMs = 15_000

/** The current state of one topic. */
export interface TopicEvent extends Looked {
  readonly topic: string
  readonly at: number
}

/** One watched view, computed once for all viewers with the same rights. */
interface Topic {
  readonly name: string
  readonly viewer: Viewer
  readonly streams: Set<Stream>
  version: TopicVersion | null
  timer: Timer | null
}

interface Stream {
  /** The topics that have changed, whose newest states a slow reader gets. */
  readonly waiting: Set<Topic>
  /** The number of the version that was sent last. */
  readonly received: Map<Topic, number>
  wake: () => void
  isOver: boolean
}

export class Topics {
  readonly #views: LiveViews
  readonly #clock: Clock
  readonly #topics = new Map<string, Topic>()
  readonly #grants = new WeakMap<Viewer['grant'], number>()
  readonly #streams = new Set<Stream>()
  #lastGrant = 0

  constructor(views: LiveViews, clock: Clock) {
    this.#views = views
    this.#clock = clock
  }

  get hasRoom(): boolean {
    return this.#streams.size < mostStreams
  }

  get streams(): number {
    return this.#streams.size
  }

  /** The current state of one topic, for clients that cannot receive a stream. */
  async read(viewer: Viewer, topic: string): Promise<TopicEvent> {
    const at = this.#clock.now()
    return { topic, at, ...(await this.#look(viewer, topic)) }
  }

  /** Server-sent events until the client disconnects. */
  async *stream(
    viewer: Viewer,
    names: readonly string[],
    signal: AbortSignal,
    isStillKnown: () => Promise<boolean>,
  ): AsyncGenerator<string | Uint8Array> {
    const stream: Stream = { waiting: new Set(), received: new Map(), wake: () => {}, isOver: false }
    this.#streams.add(stream)
    const topics = [...new Set(names)].slice(0, mostTopics).map((name) => this.#join(viewer, name, stream))
    const end = () => {
      stream.isOver = true
      stream.wake()
    }
    signal.addEventListener('abort', end, { once: true })
    try {
      yield `retry: 2000\n: ${this.#clock.now()}\n\n`
      while (!stream.isOver && !signal.aborted) {
        const isTold = await this.#wait(stream)
        if (stream.isOver || !(await isStillKnown())) return
        if (!isTold) yield `event: beat\ndata: ${this.#clock.now()}\n\n`
        const changed = [...stream.waiting]
        stream.waiting.clear()
        for (const topic of changed) yield this.#event(topic, stream)
      }
    } finally {
      signal.removeEventListener('abort', end)
      this.#streams.delete(stream)
      for (const topic of topics) this.#leave(topic, stream)
    }
  }

  close(): void {
    for (const stream of this.#streams) {
      stream.isOver = true
      stream.wake()
    }
  }

  /** Called after a change from the dashboard, so that all viewers see it at once. */
  refresh(): void {
    for (const topic of this.#topics.values()) this.#later(topic, 0)
  }

  async #wait(stream: Stream): Promise<boolean> {
    if (stream.waiting.size > 0) return true
    return new Promise((resolve) => {
      const timer = this.#clock.timer(heartbeatMs, () => resolve(false), { unref: true })
      stream.wake = () => {
        timer.cancel()
        resolve(true)
      }
    })
  }

  #join(viewer: Viewer, name: string, stream: Stream): Topic {
    const key = `${this.#numberOf(viewer.grant)} ${name}`
    const known = this.#topics.get(key)
    if (known !== undefined) {
      known.streams.add(stream)
      if (known.version !== null) publish(known, stream)
      return known
    }
    const topic: Topic = { name, viewer, streams: new Set([stream]), version: null, timer: null }
    this.#topics.set(key, topic)
    this.#later(topic, 0)
    return topic
  }

  #leave(topic: Topic, stream: Stream): void {
    topic.streams.delete(stream)
    if (topic.streams.size > 0) return
    topic.timer?.cancel()
    this.#topics.delete(`${this.#numberOf(topic.viewer.grant)} ${topic.name}`)
  }

  #later(topic: Topic, delayMs: number): void {
    topic.timer?.cancel()
    topic.timer = this.#clock.timer(delayMs, () => void this.#compute(topic), { unref: true })
  }

  async #compute(topic: Topic): Promise<void> {
    const elapsed = stopwatchOf(this.#clock)
    const looked = await this.#look(topic.viewer, topic.name)
    if (topic.streams.size === 0) return
    const before = topic.version
    topic.version = TopicVersion.after(before, topic.name, looked)
    if (topic.version !== before) for (const stream of topic.streams) publish(topic, stream)
    const restMs = Math.min(longestRestMs, restFactor * this.#topics.size * elapsed())
    this.#later(topic, Math.max(this.#views.paceMs(topic.name), restMs))
  }

  #event(topic: Topic, stream: Stream): Uint8Array {
    const version = topic.version as TopicVersion
    const received = stream.received.get(topic) ?? 0
    stream.received.set(topic, version.number)
    return version.event(received, this.#clock.now())
  }

  async #look(viewer: Viewer, topic: string): Promise<Looked> {
    try {
      return { data: await this.#views.look(viewer, topic) }
    } catch (thrown) {
      const problem = problemOf(thrown)
      if (problem !== null) {
        const { status, title, detail } = problem.toJSON()
        return { problem: { status, title, detail: detail ?? '' } }
      }
      return {
        problem: {
          status: 500,
          title: 'It could not be shown',
          detail: 'The queue did not answer; the log of the server says why',
        },
      }
    }
  }

  #numberOf(grant: Viewer['grant']): number {
    const known = this.#grants.get(grant) ?? ++this.#lastGrant
    this.#grants.set(grant, known)
    return known
  }
}

function publish(topic: Topic, stream: Stream): void {
  stream.waiting.add(topic)
  stream.wake()
}
