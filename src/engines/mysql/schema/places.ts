import type { StateIndex } from '../../sql/dialect.ts'
import { isListed, stateNumber } from '../../sql/rows/tables.ts'

const { ready, scheduled, running } = stateNumber

export const placeIndex = 'jobs_place'

/**
 * MySQL has no partial indexes: an index per state would hold every job, and each change of state would update all of them. So
 * there is a single index, by a job's place: its lane and group if it is ready, or else a number that no lane has; within a
 * place, by the relevant time. It includes the cancel flag, so that it can be checked without reading the row.
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

/** Orders the ready jobs of crowded lanes; null for all other jobs. */
export const crowdColumn = `crowd_place INT AS (CASE state WHEN ${ready} THEN crowd END) STORED`
export const crowdColumns = ['crowd_place', 'run_at', 'id']

export const crowd: StateIndex = { from: `{jobs by ${crowdIndex}}`, is: 'crowd_place IS NOT NULL', at: 'crowd_place' }

export const listedIndex = 'jobs_listed'

/** The lane and state of a job that is listed by them, and whether it is linked, as one number; null for all other jobs. */
export const listedColumn = `listed_place BIGINT AS (CASE WHEN ${isListed} THEN lane * 16 + state * 2 + linked END) STORED`

export const listed = { from: `{jobs by ${listedIndex}}`, is: 'listed_place = ? * 16 + ? * 2 + ?' }

const groupIndex = 'jobs_group'

export const grouped = { from: `{jobs by ${groupIndex}}`, is: '{jobs}.grp = ? AND {jobs}.lane = ?' }

/** The table, read through that index. */
export const byPlace = `{jobs by ${placeIndex}}`

export function inState(state: number): StateIndex {
  const is = state === ready ? 'place > 0' : `place = ${state === scheduled ? 0 : -state} AND place_grp = ''`
  return { from: byPlace, is, at: 'place_at' }
}

export const cancelling = { from: byPlace, is: `${inState(running).is} AND cancel = 1` }
