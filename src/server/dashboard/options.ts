import type { ActivityEntry, Colour } from './shared/view.ts'
import type { RedactionOptions } from './views/redaction.ts'

/** How the dashboard looks, and what it hides. */
export interface AppearanceOptions extends RedactionOptions {
  /** What this installation is called, such as `production`; the program's environment by default. */
  readonly environment?: string
  /** Of the bar on top, so that nobody takes production for something else. */
  readonly colour?: Colour
  /** Told of everything that is done from the dashboard, for a log of your own. */
  readonly onAction?: (entry: ActivityEntry) => void
}
