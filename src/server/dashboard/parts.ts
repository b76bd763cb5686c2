import type { Treadle } from '../../app/treadle.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import type { HttpDeps } from '../http/deps.ts'
import { handlersOf } from '../http/handlers.ts'
import { httpLimits } from '../http/limits.ts'
import { routesOf } from '../http/route.ts'
import { Waiting } from '../http/waiting.ts'
import type { JobService } from '../jobs/job-service.ts'
import { Activity } from './activity.ts'
import { BulkActions } from './bulk.ts'
import type { DashboardDeps } from './dashboard-deps.ts'
import type { ViewDeps } from './deps.ts'
import { ApiCaller } from './exchange/api-caller.ts'
import { LiveViews } from './live/live-views.ts'
import { QueueFlows } from './live/queue-flows.ts'
import { Series } from './live/series.ts'
import { Snapshots } from './live/snapshots.ts'
import { Topics } from './live/topics.ts'
import type { AppearanceOptions } from './options.ts'
import { JobExports } from './views/jobs/exporting.ts'
import { Redaction } from './views/jobs/redaction.ts'

/** What answers the requests, created once the queue is open. */
export interface DashboardParts {
  readonly deps: DashboardDeps
  readonly views: LiveViews
  readonly topics: Topics
  readonly api: ApiCaller
  close(): Promise<void>
}

export function dashboardParts(jobs: Treadle, service: JobService, options: AppearanceOptions): DashboardParts {
  const { backend, settings } = service.queue
  const { clock, logger } = settings
  const { store } = backend
  const snapshots = new Snapshots(store, clock)
  const flows = new QueueFlows({ store, snapshots, clock })
  const viewDeps: ViewDeps = {
    jobs,
    service,
    store,
    clock,
    logger,
    snapshots,
    series: new Series(store.rollups, queueClock(backend, clock)),
    flows,
    redaction: new Redaction(options),
    activity: new Activity(clock, options.onAction ?? null),
    environment: options.environment ?? settings.environment,
    colour: options.colour ?? null,
  }
  const limits = httpLimits()
  const httpDeps: HttpDeps = { jobs, service, limits, waiting: new Waiting(service, limits) }
  const api = new ApiCaller(routesOf(handlersOf(httpDeps)), service)
  const deps: DashboardDeps = { ...viewDeps, bulk: new BulkActions(viewDeps, api), exports: new JobExports(viewDeps) }
  const views = new LiveViews(deps)
  const topics = new Topics(views, clock)
  return {
    deps,
    views,
    topics,
    api,
    async close() {
      flows.close()
      topics.close()
      await deps.bulk.close()
    },
  }
}
