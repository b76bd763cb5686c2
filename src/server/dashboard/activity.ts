import type { Clock } from '../../core/time/clock.ts'
import type { Viewer } from './access/viewer.ts'
import type { ActivityEntry, BulkView } from './shared/views/bulk.ts'

const mostEntries = 500

export interface Act {
  readonly what: string
  readonly href?: string | null
  readonly bulk?: () => BulkView
}

interface Kept {
  readonly at: number
  readonly viewer: Viewer
  readonly act: Act
}

/** The most recent actions taken from the dashboard, and who took them. Kept in the memory of this process. */
export class Activity {
  readonly #clock: Clock
  readonly #onAct: ((entry: ActivityEntry) => void) | null
  readonly #entries: Kept[] = []

  constructor(clock: Clock, onAct: ((entry: ActivityEntry) => void) | null = null) {
    this.#clock = clock
    this.#onAct = onAct
  }

  add(viewer: Viewer, act: Act): void {
    const kept = { at: this.#clock.now(), viewer, act }
    this.#entries.unshift(kept)
    this.#entries.length = Math.min(this.#entries.length, mostEntries)
    try {
      this.#onAct?.(entryOf(kept))
    } catch {
      // A failing `onAction` must not undo the action.
    }
  }

  /** The last of these actions. */
  last(viewer: Viewer, ...whats: readonly string[]): ActivityEntry | null {
    return this.list(viewer).find(({ what }) => whats.includes(what)) ?? null
  }

  /** A viewer limited to some jobs sees only actions taken under the same limits. */
  list({ grant }: Viewer): readonly ActivityEntry[] {
    return this.#entries.filter(({ viewer }) => !grant.isLimited || viewer.grant === grant).map(entryOf)
  }
}

function entryOf({ at, viewer, act: { what, href, bulk } }: Kept): ActivityEntry {
  return { at, user: viewer.user, role: viewer.grant.role, what, href: href ?? null, bulk: bulk?.() ?? null }
}
