import type { Grant } from '../../access/grant.ts'

/** The person viewing the dashboard. */
export interface Viewer {
  readonly user: string | null
  readonly grant: Grant
  readonly canLogOut: boolean
}
