import { describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { redisGaps } from './redis-gaps.ts'
import { openFresh, redisUrl } from './redis-ground.ts'

describe.skipIf(redisUrl() === null).each([{ fastPaths: true }, { fastPaths: false }])(
  'on the real server, with fast paths: $fastPaths',
  ({ fastPaths }) => {
    backendConformance({ describe, it }, 'redis', { open: (clock) => openFresh({ clock, fastPaths }), gaps: redisGaps })
  },
)
