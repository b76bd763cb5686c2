import { describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { beanstalkdUrl, openFresh as openBeanstalkd } from './beanstalkd-ground.ts'
import { coordinatedGaps } from './coordinated-gaps.ts'
import { openBeside } from './coordinated-ground.ts'
import { redisGaps } from './redis-gaps.ts'
import { openFresh as openRedis, redisUrl } from './redis-ground.ts'

// With SQLite beside it: test/deep/coordinated-sqlite.test.ts.
describe.skipIf(beanstalkdUrl() === null || redisUrl() === null)('on real servers', () => {
  backendConformance({ describe, it }, 'beanstalkd with Redis beside it', {
    open: (clock) => openBeside(openBeanstalkd({ clock }), openRedis({ clock }), clock),
    gaps: { ...redisGaps, ...coordinatedGaps },
  })
})
