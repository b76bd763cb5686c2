import { describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { beanstalkdGaps } from './beanstalkd-gaps.ts'
import { beanstalkdUrl, openFresh } from './beanstalkd-ground.ts'

describe.skipIf(beanstalkdUrl() === null)('on the real server', () => {
  backendConformance({ describe, it }, 'beanstalkd', { open: (clock) => openFresh({ clock }), gaps: beanstalkdGaps })
})
