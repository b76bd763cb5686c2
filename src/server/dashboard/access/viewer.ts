import type { Grant } from '../../access/grant.ts'

/** Who looks. */
export interface Viewer {
  readonly user: string | null
  readonly grant: Grant
  readonly canLogOut: boolean
}
