import { afterAll, beforeAll, describe, it } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { openBeside } from '../backends/coordinated-ground.ts'
import { memoryGaps } from '../backends/memory-gaps.ts'
import { ConformanceGround } from '../service-bus/conformance-ground.ts'
import { coordinatedGaps } from '../service-bus/coordinated-gaps.ts'

const ground = new ConformanceGround()
beforeAll(() => ground.start())
afterAll(() => ground.stop())

backendConformance({ describe, it }, 'service-bus with a store beside it', {
  open: (clock) => openBeside(ground.open(clock), Promise.resolve(openMemory({ clock })), clock),
  gaps: { ...memoryGaps, ...coordinatedGaps },
})
