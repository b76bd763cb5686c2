import type { QueueTime } from '../../servers/queue-time.ts'
import type { RedisServer } from '../connections/server.ts'
import type { Units } from '../units/units.ts'

/** What the parts of a store share. */
export interface RedisStoreParts {
  readonly server: RedisServer
  readonly units: Units
  readonly time: QueueTime
  /** Wakes the workers of all programs. */
  readonly wake: () => Promise<void>
  /** Called before each operation; throws if the backend is closed. */
  readonly ready: () => Promise<void>
}
