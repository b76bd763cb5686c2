import type { Treadle } from '../../app/treadle.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import type { JobService } from '../jobs/job-service.ts'
import type { Activity } from './activity.ts'
import type { QueueFlows } from './live/queue-flows.ts'
import type { Series } from './live/series.ts'
import type { Snapshots } from './live/snapshots.ts'
import type { Colour } from './shared/views/viewer.ts'
import type { Redaction } from './views/jobs/redaction.ts'

/** What the views need. */
export interface ViewDeps {
  readonly jobs: Treadle
  readonly service: JobService
  readonly store: JobStore
  readonly clock: Clock
  readonly logger: Logger
  readonly snapshots: Snapshots
  readonly series: Series
  readonly flows: QueueFlows
  readonly redaction: Redaction
  readonly activity: Activity
  readonly environment: string | null
  readonly colour: Colour | null
}
