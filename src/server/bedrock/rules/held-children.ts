import type { ServedQueue } from '../../../app/served-queue.ts'
import type { Amendment, JobRecord } from '../../../backends/store.ts'
import type { Timer } from '../../../core/clock.ts'
import { messageOf } from '../../../core/errors.ts'
import { wireMetaOf } from '../../../envelope/bedrock-meta.ts'
import { type Envelope, sealOf } from '../../../envelope/envelope.ts'
import { type WireJob, wireJobOf } from './wire-job.ts'

const soonMs = 5_000
const laterMs = 60_000
/** Of one sweep: so many parents, children and unknown jobs at most. */
const mostParents = 1_000
const mostChildren = 1_000
const pageSize = 200
/** Those that are not remembered are found by looking through what waits. */
const mostKnown = 100_000

/** The envelope of a child that is held back no longer; null where it is not what was signed, and has ended for that. */
type Released = (
  record: JobRecord,
  changes: { readonly runAt: number; readonly meta: { readonly heldUntil: null } },
) => Promise<Envelope | null>

/**
 * Children are held back until their parent waits for them. A parent may also end where nobody looks after them: in a TypeScript
 * worker, over HTTP, or by a failure. So somebody looks from time to time, a bounded amount each time.
 */
export class HeldChildren {
  readonly #queue: ServedQueue
  readonly #released: Released
  /** By their parents. */
  readonly #known = new Map<string, Set<string>>()
  #count = 0
  #timer: Timer | undefined
  #timerAt = 0
  #sweeping: Promise<void> | undefined
  /** Where the look through what waits goes on; null where it begins anew. */
  #before: string | null = null
  #isStopped = true

  constructor(queue: ServedQueue, released: Released) {
    this.#queue = queue
    this.#released = released
  }

  start(): void {
    this.#isStopped = false
    this.#sweepIn(soonMs)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#sweeping
  }

  /** This job was made, and is held back by that one. */
  note(parent: string, child: string): void {
    if (this.#count >= mostKnown) return
    const children = this.#known.get(parent) ?? new Set()
    if (!children.has(child)) this.#count++
    this.#known.set(parent, children.add(child))
    if (this.#sweeping === undefined) this.#sweepIn(soonMs)
  }

  /** They may begin, as far as they were held back; gives how many were being changed by somebody else and still are. */
  async release(children: readonly WireJob[]): Promise<number> {
    const { store } = this.#queue.backend
    const found = await Promise.all(children.map((child) => this.#releaseOf(child)))
    const amendments = found.filter((amendment) => amendment !== null)
    const answers = amendments.length === 0 ? [] : await store.amend(amendments)
    return answers.filter((answer) => answer === 'changed').length
  }

  /** Null for a child that is not held back, or must not begin. */
  async #releaseOf({ record, meta: { heldUntil } }: WireJob): Promise<Amendment | null> {
    if (heldUntil === null) return null
    const envelope = await this.#released(record, { runAt: heldUntil, meta: { heldUntil: null } })
    return envelope === null ? null : { id: record.id, expected: sealOf(record), envelope }
  }

  /** Whether a child is held back by a parent that does not run. */
  async isInVain({ meta, record }: WireJob): Promise<boolean> {
    if (meta.heldUntil === null || record.parent === null) return false
    return (await this.#queue.backend.store.get(record.parent))?.state !== 'running'
  }

  #sweepIn(delayMs: number): void {
    const { clock } = this.#queue.settings
    const at = clock.now() + delayMs
    if (this.#isStopped || (this.#timer !== undefined && this.#timerAt <= at)) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = clock.timer(delayMs, () => {
      this.#timer = undefined
      this.#sweeping = this.#sweep().finally(() => {
        this.#sweeping = undefined
        this.#sweepIn(this.#known.size > 0 || this.#before !== null ? soonMs : laterMs)
      })
    })
  }

  async #sweep(): Promise<void> {
    try {
      await this.#lookThroughWaiting()
      await this.#releaseKnown()
    } catch (thrown) {
      this.#queue.settings.logger.error(`Children could not be released: ${messageOf(thrown)}`)
    }
  }

  /** Finds what other servers have made, or this one before it was started anew. */
  async #lookThroughWaiting(): Promise<void> {
    const { store } = this.#queue.backend
    const before = this.#before === null ? {} : { before: this.#before }
    const page = await store.list({ state: 'scheduled', limit: pageSize, ...before })
    for (const { id, meta } of page) {
      const { heldUntil, parent } = wireMetaOf(meta)
      if (heldUntil !== null && parent !== null) this.note(parent, id)
    }
    this.#before = page.length < pageSize ? null : (page.at(-1)?.id ?? null)
  }

  async #releaseKnown(): Promise<void> {
    let left = mostChildren
    for (const [parent, children] of [...this.#known].slice(0, mostParents)) {
      if (left <= 0) return
      this.#known.delete(parent)
      this.#count -= children.size
      const ids = [...children]
      const released = (await isToComeBack(parent, this.#queue)) ? 0 : await this.#releaseSome(ids.slice(0, left))
      left -= released
      // Whoever was looked at is the last to be looked at again.
      for (const child of ids.slice(released)) this.note(parent, child)
    }
  }

  async #releaseSome(ids: readonly string[]): Promise<number> {
    const { store } = this.#queue.backend
    const records = await Promise.all(ids.map((id) => store.get(id)))
    const children = records.flatMap((record) => (record === null ? [] : (wireJobOf(record) ?? [])))
    return (await this.release(children)) > 0 ? 0 : ids.length
  }
}

/** Whether a parent runs, or will run again, and can release its children itself. */
async function isToComeBack(parent: string, { backend }: ServedQueue): Promise<boolean> {
  const record = await backend.store.get(parent)
  return record !== null && (record.state === 'running' || record.state === 'ready' || record.state === 'scheduled')
}
