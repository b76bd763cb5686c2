import type { Role } from '../../../../client/api/roles.ts'

/** The viewer, and what is available to them. */
export interface Me {
  readonly user: string | null
  readonly role: Role
  readonly queues: readonly string[] | null
  readonly isLimited: boolean
  readonly canLogOut: boolean
  readonly version: string
  readonly backend: string
  /** The name of this installation, and the colour of its bar. */
  readonly environment: string | null
  readonly colour: Colour | null
  readonly now: number
}

/** The colour of the bar that marks an environment. */
export type Colour = 'blue' | 'green' | 'amber' | 'red' | 'violet' | 'grey'

export interface ProblemView {
  readonly status: number
  readonly title: string
  readonly detail: string
}
