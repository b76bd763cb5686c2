import type { ActivityEntry } from './shared/views/bulk.ts'
import type { Colour } from './shared/views/viewer.ts'
import type { RedactionOptions } from './views/jobs/redaction.ts'

/** How the dashboard looks, and what it hides. */
export interface AppearanceOptions extends RedactionOptions {
  /** The name of this installation, such as `production`; the program's environment by default. */
  readonly environment?: string
  /** The colour of the bar at the top, so that production is not mistaken for something else. */
  readonly colour?: Colour
  /** Called for every action taken in the dashboard, for an audit log of your own. */
  readonly onAction?: (entry: ActivityEntry) => void
}
