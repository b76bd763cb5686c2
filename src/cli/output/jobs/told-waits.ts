import type { TreadleEvents } from '../../../execution/events.ts'
import type { LoggedEvent } from '../workers/work-log.ts'

/** A waiting run checks again and again whether it may begin; this is only worth a line if the reason has changed. */
export class ToldWaits {
  readonly #reasons = new Map<string, string>()

  isNews(name: LoggedEvent, event: TreadleEvents[LoggedEvent]): boolean {
    if (!('id' in event)) return true
    const { id } = event
    const why = name === 'job:snoozed' ? (event as TreadleEvents['job:snoozed']).why : null
    const told = this.#reasons.get(id)
    this.#reasons.delete(id)
    if (why === null) return true
    // Jobs that ended in another process are never removed, so limit the size.
    if (this.#reasons.size >= mostTold) this.#reasons.clear()
    this.#reasons.set(id, why)
    return told !== why
  }
}

const mostTold = 10_000
