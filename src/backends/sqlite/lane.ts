/** What a claim treats alike. Whatever decides about a claim is decided once for a lane, not for each job in it. */
export interface Lane {
  readonly lane: number
  readonly queue: string
  readonly job: string
  readonly priority: number
  readonly single: number
  /** 1 where its jobs are occurrences of a schedule. */
  readonly recurring: number
  /** 1 where its jobs belong to groups. */
  readonly grouped: number
  /** Of a group's lane, the lane of all groups; 0 for any other. */
  readonly family: number
  /** Of a group's lane; empty for any other. */
  readonly grp: string
}
