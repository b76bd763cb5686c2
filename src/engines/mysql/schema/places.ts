import type { StateIndex } from '../../sql/dialect.ts'
import { isSoughtByLane, stateNumber } from '../../sql/rows/tables.ts'

const { ready, scheduled, running } = stateNumber

export const placeIndex = 'jobs_place'

/**
 * There are no indexes over some of the rows: one for each state would hold every job, and a job that changes its state would change
 * them all. So there is a single one, by where a job stands: a ready one in its lane and group, all others below numbers that no
 * lane has; and there by the time that counts. Whether it was asked to stop stands in it too, to be seen without a look at the row.
 */
export function placeColumns(groupType: string): readonly string[] {
  return [
    `place INT AS (CASE state WHEN ${ready} THEN lane WHEN ${scheduled} THEN 0 ELSE -state END) STORED`,
    `place_grp ${groupType} AS (CASE state WHEN ${ready} THEN grp ELSE '' END) STORED`,
    `place_at BIGINT AS (CASE WHEN state < ${running} THEN run_at WHEN state = ${running} THEN lease_until ELSE finished_at END) STORED`,
    `INDEX ${placeIndex} (place, place_grp, place_at, id, cancel)`,
  ]
}

export const crowdIndex = 'jobs_crowd'

/** The order of a ready job of a crowded lane; nothing for all others. */
export const crowdColumn = `crowd_place INT AS (CASE state WHEN ${ready} THEN crowd END) STORED`
export const crowdColumns = ['crowd_place', 'run_at', 'id']

export const crowd: StateIndex = { from: `{jobs by ${crowdIndex}}`, is: 'crowd_place IS NOT NULL', at: 'crowd_place' }

export const laneIndex = 'jobs_lane'

/** The lane of a job that is sought by it; nothing for all others. */
export const laneColumn = `lane_place INT AS (CASE WHEN ${isSoughtByLane} THEN lane END) STORED`

export const byLane: StateIndex = { from: `{jobs by ${laneIndex}}`, is: 'lane_place IS NOT NULL', at: 'lane_place' }

/** The table, to be read by that index. */
export const byPlace = `{jobs by ${placeIndex}}`

export function inState(state: number): StateIndex {
  const is = state === ready ? 'place > 0' : `place = ${state === scheduled ? 0 : -state} AND place_grp = ''`
  return { from: byPlace, is, at: 'place_at' }
}

export const cancelling = { from: byPlace, is: `${inState(running).is} AND cancel = 1` }
