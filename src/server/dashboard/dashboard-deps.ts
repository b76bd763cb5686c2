import type { BulkActions } from './bulk.ts'
import type { ViewDeps } from './deps.ts'

export interface DashboardDeps extends ViewDeps {
  readonly bulk: BulkActions
}
