import type { Treadle } from '../../app/treadle.ts'
import type { JobService } from '../jobs/job-service.ts'
import type { HttpLimits } from './limits.ts'
import type { Waiting } from './waiting.ts'

/** What the operations are done with. */
export interface HttpDeps {
  readonly jobs: Treadle
  readonly service: JobService
  readonly limits: HttpLimits
  readonly waiting: Waiting
}
