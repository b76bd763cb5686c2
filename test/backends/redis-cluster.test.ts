import { afterAll, beforeAll, describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { canStart } from '../services.ts'
import { RedisClusterGround } from './redis/cluster-ground.ts'
import { redisGaps } from './redis-gaps.ts'
import { openFresh } from './redis-ground.ts'

describe.skipIf(!canStart('redis'))('on three nodes', () => {
  const ground = new RedisClusterGround()
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())

  backendConformance({ describe, it }, 'a Redis Cluster', {
    open: (clock) => openFresh({ url: ground.url, clock }),
    gaps: redisGaps,
  })
})
