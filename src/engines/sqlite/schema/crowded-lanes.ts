import type { Migration } from '../../../queue/contract/migration.ts'
import { crowdedFrom, mostSingleLanes } from '../../sql/lanes/lane-numbers.ts'

/** For lists of a lane, until `listsByLane`. */
export const laneIndex =
  'CREATE INDEX treadle_jobs_lane ON treadle_jobs (lane, id) WHERE state * (state - 3) * (state - 4 + linked) <> 0'

/**
 * Support for many lanes: all beyond the first ones are crowded, with jobs that record their own order, and lane 0 counts the
 * jobs of all lanes together. Lanes with running jobs keep their numbers, because settling a job names its lane.
 */
export const crowdedLanes: Migration = {
  up: [
    'ALTER TABLE treadle_jobs ADD COLUMN crowd INTEGER',
    'ALTER TABLE treadle_lanes ADD COLUMN empty_since INTEGER',
    `UPDATE treadle_lanes SET lane = lane + ${crowdedFrom} WHERE lane IN (
      SELECT lane FROM treadle_lanes WHERE lane NOT IN (SELECT lane FROM treadle_jobs WHERE state = 3)
      ORDER BY lane LIMIT -1 OFFSET ${mostSingleLanes})`,
    `UPDATE treadle_jobs SET lane = lane + ${crowdedFrom},
      crowd = (SELECT -priority FROM treadle_lanes AS lanes WHERE lanes.lane = treadle_jobs.lane + ${crowdedFrom})
      WHERE lane + ${crowdedFrom} IN (SELECT lane FROM treadle_lanes WHERE lane > ${crowdedFrom})`,
    ...['counts', 'groups'].map(
      (table) => `UPDATE treadle_${table} SET lane = lane + ${crowdedFrom}
        WHERE lane + ${crowdedFrom} IN (SELECT lane FROM treadle_lanes WHERE lane > ${crowdedFrom})`,
    ),
    'INSERT INTO treadle_counts (lane, state, jobs) SELECT 0, state, sum(jobs) FROM treadle_counts GROUP BY state',
    'CREATE INDEX treadle_lanes_job ON treadle_lanes (job, queue)',
    'CREATE INDEX treadle_jobs_crowd ON treadle_jobs (crowd, run_at, id) WHERE state + 0 = 0 AND crowd IS NOT NULL',
    laneIndex,
  ],
  down: [
    'DROP INDEX treadle_jobs_crowd',
    'DROP INDEX treadle_jobs_lane',
    'DROP INDEX treadle_lanes_job',
    'DELETE FROM treadle_counts WHERE lane = 0',
    'ALTER TABLE treadle_lanes DROP COLUMN empty_since',
    'ALTER TABLE treadle_jobs DROP COLUMN crowd',
  ],
  compatibleFrom: 9,
}
