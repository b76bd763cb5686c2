import { afterAll, describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { beanstalkdUrl, openFresh } from '../backends/beanstalkd-ground.ts'
import { coordinatedGaps } from '../backends/coordinated-gaps.ts'
import { openBeside } from '../backends/coordinated-ground.ts'
import { SqliteGround } from '../backends/sqlite-ground.ts'
import { execute } from '../processes/database.ts'

const files = new SqliteGround()
afterAll(() => files.stop())

describe.skipIf(beanstalkdUrl() === null)('on the real server', () => {
  backendConformance({ describe, it }, 'beanstalkd with SQLite beside it', {
    open: (clock) => openBeside(openFresh({ clock }), files.open(clock), clock),
    execute: async (sql) => execute(files.file, sql),
    gaps: coordinatedGaps,
  })
})
