import type { Lane, Lanes } from './lanes.ts'

/** What jobs are chosen by that their lanes tell of. */
export interface LaneChoice {
  readonly queue?: string
  readonly job?: string
  /** Only jobs of a group, of whichever. */
  readonly group?: string
  readonly exceptJobs?: readonly string[]
}

/** The numbers of the lanes whose jobs are meant; null where those of all are. */
export async function chosenLanes(
  lanes: Lanes,
  { queue, job, group, exceptJobs = [] }: LaneChoice,
): Promise<readonly number[] | null> {
  const isAny = queue === undefined && job === undefined && group === undefined && exceptJobs.length === 0
  if (isAny) return null
  const except = new Set(exceptJobs)
  const isMeant = (lane: Lane) =>
    (queue === undefined || lane.queue === queue) &&
    (job === undefined || lane.job === job) &&
    (group === undefined || lane.grouped === 1) &&
    !except.has(lane.job)
  return (await lanes.all()).filter(isMeant).map(({ lane }) => lane)
}
