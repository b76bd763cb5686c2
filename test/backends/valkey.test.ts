import { describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { redisGaps } from './redis-gaps.ts'
import { openFresh, valkeyUrl } from './redis-ground.ts'

// Without the fast paths, the scripts and commands are those that Redis is tested with.
describe.skipIf(valkeyUrl() === null)('on the real server', () => {
  backendConformance({ describe, it }, 'valkey', {
    open: (clock) => openFresh({ url: valkeyUrl() ?? '', clock }),
    gaps: redisGaps,
  })
})
