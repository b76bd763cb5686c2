import type { Migration } from '../../../queue/contract/migration.ts'
import { laneColumn, laneIndex } from './crowded-lanes.ts'
import { groupIndex, listedColumn, listedIndex } from './places.ts'

/** Lists of jobs by name, queue, state and group, each in the order of an index. Older programs name the index that they use. */
export const listsByLane: Migration = {
  up: [
    `ALTER TABLE {jobs} ADD COLUMN ${listedColumn}, ADD INDEX ${listedIndex} (listed_place), ADD INDEX ${groupIndex} (grp, lane)`,
    `ALTER TABLE {jobs} DROP INDEX ${laneIndex}, DROP COLUMN lane_place`,
  ],
  down: [
    `ALTER TABLE {jobs} ADD COLUMN ${laneColumn}, ADD INDEX ${laneIndex} (lane_place)`,
    `ALTER TABLE {jobs} DROP INDEX ${listedIndex}, DROP INDEX ${groupIndex}, DROP COLUMN listed_place`,
  ],
  compatibleFrom: 10,
}
