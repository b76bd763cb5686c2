import { messageOf } from '../../core/errors.ts'
import type { Timer } from '../../core/time/clock.ts'
import { wireMetaOf, withWireMeta } from '../../envelope/bedrock-meta.ts'
import { sealOf } from '../../envelope/envelope.ts'
import { reseal } from '../../envelope/reseal.ts'
import { openRecord, type VerifyingDeps } from '../../execution/admit/verifying.ts'
import { isFinal } from '../../queue/contract/job-state.ts'
import type { Amendment, JobRecord } from '../../queue/contract/store.ts'

const soonMs = 5_000
const laterMs = 60_000
/** Limits for one sweep: parents, children, and waiting jobs to look through. */
const mostParents = 1_000
const mostChildren = 1_000
const pageSize = 200
/** Maximum number of attempts to release a child that is changed concurrently. */
const mostRounds = 10
/** Maximum number of children to remember. Others are found by looking through the scheduled jobs. */
const mostKnown = 100_000

/**
 * Children are held back until their parent waits for them. A parent may also end in a place that does not release them: in a
 * TypeScript worker, over HTTP, or by a failure. So a periodic sweep releases them, a bounded number each time.
 */
export class HeldChildren {
  readonly #deps: VerifyingDeps
  /** Children by parent. */
  readonly #known = new Map<string, Set<string>>()
  #count = 0
  #timer: Timer | undefined
  #timerAt = 0
  #sweeping: Promise<void> | undefined
  /** Where the scan of scheduled jobs continues; null if it starts from the beginning. */
  #before: string | null = null
  #isStopped = true

  constructor(deps: VerifyingDeps) {
    this.#deps = deps
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

  /** A child was stored as held back. It is released if its parent has begun to wait for its children, or has ended, meanwhile. */
  async add(parent: string, child: string): Promise<void> {
    this.note(parent, child)
    if (!(await isToComeBack(parent, this.#deps))) await this.release(await this.#recordsOf([child]))
  }

  /** Remembers a child that is held back by its parent. */
  note(parent: string, child: string): void {
    if (this.#count >= mostKnown) return
    const children = this.#known.get(parent) ?? new Set()
    if (!children.has(child)) this.#count++
    this.#known.set(parent, children.add(child))
    if (this.#sweeping === undefined) this.#sweepIn(soonMs)
  }

  /** Releases all children of a job that are held back, except for those that the caller knows to be released. */
  async releaseOf(parent: string, released: ReadonlySet<string> = new Set()): Promise<void> {
    const { store } = this.#deps
    const links = await store.links(parent)
    const held = links.filter(({ kind, id }) => kind === 'child' && !released.has(id))
    await this.release(await this.#recordsOf(held.map(({ id }) => id)))
  }

  /**
   * Releases these children. One that is changed concurrently is read and released again. Returns how many could not be released
   * because they were changed each time.
   */
  async release(children: readonly JobRecord[], roundsLeft = mostRounds - 1): Promise<number> {
    const found = await Promise.all(children.map((child) => this.#releaseOf(child)))
    const amendments = found.filter((amendment) => amendment !== null)
    const answers = amendments.length === 0 ? [] : await this.#deps.store.amend(amendments)
    const changed = amendments.filter((_, index) => answers[index] === 'changed').map(({ id }) => id)
    if (changed.length === 0 || roundsLeft === 0) return changed.length
    return this.release(await this.#recordsOf(changed), roundsLeft - 1)
  }

  /** Null for a child that is not held back, or that was ended because it does not match its signature. */
  async #releaseOf(record: JobRecord): Promise<Amendment | null> {
    const { heldUntil } = wireMetaOf(record.meta)
    if (heldUntil === null || isFinal(record.state)) return null
    try {
      const opened = await openRecord(record, this.#deps, (why) => new Rejected(why))
      const { meta } = opened.identity
      const released = withWireMeta(meta, { ...wireMetaOf(meta), heldUntil: null })
      const envelope = reseal(opened, record, { identity: { meta: released }, runAt: heldUntil }, this.#deps.keys)
      return { id: record.id, expected: sealOf(record), envelope }
    } catch (thrown) {
      if (thrown instanceof Rejected) return null
      throw thrown
    }
  }

  /** Whether a child is held back by a parent that is not running. */
  async isInVain({ meta, parent }: JobRecord): Promise<boolean> {
    if (wireMetaOf(meta).heldUntil === null || parent === null) return false
    return (await this.#deps.store.get(parent))?.state !== 'running'
  }

  #sweepIn(delayMs: number): void {
    const { clock } = this.#deps
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
      this.#deps.services.logger.error(`Children could not be released: ${messageOf(thrown)}`)
    }
  }

  /** Finds children that were created by other servers, or by this one before it was restarted. */
  async #lookThroughWaiting(): Promise<void> {
    const { store } = this.#deps
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
      const released = (await isToComeBack(parent, this.#deps)) ? 0 : await this.#releaseSome(ids.slice(0, left))
      left -= released
      // Move checked parents to the end of the map, so that they are the last to be checked again.
      for (const child of ids.slice(released)) this.note(parent, child)
    }
  }

  async #releaseSome(ids: readonly string[]): Promise<number> {
    return (await this.release(await this.#recordsOf(ids))) > 0 ? 0 : ids.length
  }

  async #recordsOf(ids: readonly string[]): Promise<readonly JobRecord[]> {
    const records = await Promise.all(ids.map((id) => this.#deps.store.get(id)))
    return records.filter((record) => record !== null)
  }
}

/** Whether a parent runs, or will run again, and can release its children itself. */
async function isToComeBack(parent: string, { store }: VerifyingDeps): Promise<boolean> {
  const record = await store.get(parent)
  return record !== null && (record.state === 'running' || record.state === 'ready' || record.state === 'scheduled')
}

/** A child does not match its signature. */
class Rejected extends Error {}
