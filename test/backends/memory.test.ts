import { describe, it } from 'vitest'
import { openMemory } from '../../src/backends/memory/index.ts'
import { backendConformance } from '../../src/testing/conformance/index.ts'

backendConformance({ describe, it }, 'memory', {
  open: async (clock) => openMemory({ clock }),
  gaps: { 'ending a job in a transaction': 'it is no SQL database' },
})
