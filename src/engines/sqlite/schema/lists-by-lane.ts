import type { Migration } from '../../../queue/contract/migration.ts'
import { isGrouped, isListed } from '../../sql/rows/tables.ts'
import { laneIndex } from './crowded-lanes.ts'

/** Lists of jobs by name, queue, state and group, each in the order of an index. */
export const listsByLane: Migration = {
  up: [
    'DROP INDEX treadle_jobs_lane',
    `CREATE INDEX treadle_jobs_listed ON treadle_jobs (lane, state, linked, id) WHERE ${isListed}`,
    `CREATE INDEX treadle_jobs_group ON treadle_jobs (grp, lane, id) WHERE ${isGrouped}`,
  ],
  down: ['DROP INDEX treadle_jobs_listed', 'DROP INDEX treadle_jobs_group', laneIndex],
  compatibleFrom: 9,
}
