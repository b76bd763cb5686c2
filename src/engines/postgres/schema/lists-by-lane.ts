import type { Migration } from '../../../queue/contract/migration.ts'
import { indexes } from '../../sql/rows/tables.ts'
import { laneIndex } from './crowded-lanes.ts'
import { createIndex } from './schema.ts'

const newIndexes = ['jobs_listed', 'jobs_group']

/** Lists of jobs by name, queue, state and group, each in the order of an index. */
export const listsByLane: Migration = {
  up: ['DROP INDEX {jobs_lane}', ...indexes.filter(({ name }) => newIndexes.includes(name)).map(createIndex)],
  down: [...newIndexes.map((name) => `DROP INDEX {${name}}`), laneIndex],
  compatibleFrom: 7,
}
