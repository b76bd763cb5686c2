import { totalsOf } from '../../../queue/contract/queue-counts.ts'
import { HttpProblem } from '../../http/wire/http-problem.ts'
import type { Viewer } from '../access/viewer.ts'
import type { DashboardDeps } from '../dashboard-deps.ts'
import type { Range } from '../shared/views/series.ts'
import { DeadGroups } from '../views/dead/dead-groups.ts'
import { Engine } from '../views/engine.ts'
import { jobView } from '../views/jobs/job-view.ts'
import { liveRows } from '../views/jobs/live-rows.ts'
import { Overview } from '../views/overview.ts'
import { queueList, queueView } from '../views/queues.ts'
import { scheduleRows, scheduleView } from '../views/schedules.ts'
import { workersFor, workerView } from '../views/workers.ts'
import { WorkflowLinks } from '../views/workflow-links.ts'
import { workflowPage, workflowView } from '../views/workflows.ts'

interface LiveView {
  /** How often to refresh it while it is being watched. */
  readonly paceMs: number
  readonly look: (viewer: Viewer, argument: string) => Promise<unknown>
}

/** Everything that a page can watch, keyed by the part of a topic before the colon: `job:0192…`. */
export class LiveViews {
  readonly engine: Engine
  readonly #views: ReadonlyMap<string, LiveView>

  constructor(deps: DashboardDeps) {
    this.engine = new Engine(deps)
    const dead = new DeadGroups(deps)
    const overview = new Overview(deps, dead)
    const links = new WorkflowLinks(deps.store)
    const views: Readonly<Record<string, LiveView>> = {
      overview: { paceMs: 1_000, look: (viewer, range) => overview.view(viewer, rangeOf(range)) },
      verdict: { paceMs: 5_000, look: (viewer) => overview.verdict(viewer) },
      counts: { paceMs: 1_000, look: (viewer) => countsFor(deps, viewer) },
      queues: { paceMs: 2_000, look: (viewer) => queueList(deps, viewer) },
      queue: { paceMs: 2_000, look: (viewer, name) => queueView(deps, viewer, name) },
      job: { paceMs: 1_000, look: (viewer, id) => jobView(deps, viewer, id) },
      rows: { paceMs: 2_000, look: (viewer, ids) => liveRows(deps, viewer, ids) },
      workflows: { paceMs: 5_000, look: (viewer) => workflowPage(deps, viewer) },
      workflow: { paceMs: 1_000, look: (viewer, root) => workflowView(deps, viewer, links, root) },
      schedules: { paceMs: 3_000, look: (viewer) => scheduleRows(deps, viewer) },
      schedule: { paceMs: 3_000, look: (viewer, name) => scheduleView(deps, viewer, name) },
      workers: { paceMs: 2_000, look: (viewer) => workersFor(deps, viewer) },
      worker: { paceMs: 2_000, look: (viewer, owner) => workerView(deps, viewer, owner) },
      engine: { paceMs: 10_000, look: (viewer) => this.engine.view(viewer) },
      dead: { paceMs: 2_000, look: (viewer) => dead.view(viewer) },
      activity: { paceMs: 1_000, look: async (viewer) => deps.activity.list(viewer) },
    }
    this.#views = new Map(Object.entries(views))
  }

  look(viewer: Viewer, topic: string): Promise<unknown> {
    const colon = topic.indexOf(':')
    const view = this.#views.get(colon < 0 ? topic : topic.slice(0, colon))
    if (view === undefined)
      return Promise.reject(new HttpProblem('not-found', `There is nothing to watch called ${JSON.stringify(topic)}`))
    return view.look(viewer, colon < 0 ? '' : topic.slice(colon + 1))
  }

  paceMs(topic: string): number {
    return this.#views.get(topic.split(':')[0] ?? '')?.paceMs ?? 1_000
  }
}

function rangeOf(text: string): Range {
  return text === '1d' || text === '7d' ? text : '1h'
}

async function countsFor({ snapshots }: DashboardDeps, { grant }: Viewer): Promise<unknown> {
  return totalsOf((await snapshots.counts()).filter((count) => grant.sees(count))).counts
}
