import type { Treadle } from '../../app/treadle.ts'
import type { JobService } from '../jobs/job-service.ts'
import type { HttpLimits } from './limits.ts'
import type { Waiting } from './waiting.ts'

/** Dependencies of the operations. */
export interface HttpDeps {
  readonly jobs: Treadle
  readonly service: JobService
  readonly limits: HttpLimits
  readonly waiting: Waiting
}
