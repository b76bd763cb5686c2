import { afterAll, beforeAll, describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { ConformanceGround } from './conformance-ground.ts'
import { gaps } from './gaps.ts'

const ground = new ConformanceGround()
beforeAll(() => ground.start())
afterAll(() => ground.stop())

backendConformance({ describe, it }, 'service-bus', { open: (clock) => ground.open(clock), gaps })
