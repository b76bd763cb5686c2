import { describe, it } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { memoryGaps } from './memory-gaps.ts'

backendConformance({ describe, it }, 'memory', {
  open: async (clock) => openMemory({ clock }),
  gaps: memoryGaps,
})
