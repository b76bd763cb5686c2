import type { BulkActions } from './bulk.ts'
import type { ViewDeps } from './deps.ts'
import type { JobExports } from './views/jobs/exporting.ts'

export interface DashboardDeps extends ViewDeps {
  readonly bulk: BulkActions
  readonly exports: JobExports
}
