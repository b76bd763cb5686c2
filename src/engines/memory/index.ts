import type { Clock } from '../../core/time/clock.ts'
import type { WholeBackend } from '../../queue/contract/contract.ts'
import { MemoryBackend } from './backend.ts'

/** A queue that lives as long as this process. It implements all optional parts. */
export function openMemory(options: { readonly clock: Clock }): WholeBackend {
  return new MemoryBackend(options.clock)
}
