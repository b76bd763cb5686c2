import { silentLogger } from '../../src/core/logger.ts'
import type { Clock } from '../../src/core/time/clock.ts'
import { type CoordinatedBackend, openCoordinated } from '../../src/engines/coordinated/index.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'

/** A broker with a store beside it, both of them empty. */
export async function openBeside(
  opening: Promise<QueueBackend>,
  storeOpening: Promise<QueueBackend>,
  clock: Clock,
): Promise<CoordinatedBackend> {
  const [broker, store] = await Promise.all([opening, storeOpening])
  return openCoordinated({ broker, store, clock, logger: silentLogger })
}
