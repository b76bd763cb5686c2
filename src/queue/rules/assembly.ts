import type { Clock } from '../../core/time/clock.ts'
import type { Watchers } from '../backend/watchers.ts'
import { Jobs } from './jobs/jobs.ts'
import { Leases } from './jobs/leases.ts'
import { Managing } from './jobs/managing.ts'
import { OnceKeys } from './keys/once-keys.ts'
import { Limits } from './limits/limits.ts'
import type { StoredSchedule } from './schedules/schedules.ts'
import { Schedules } from './schedules/schedules.ts'
import type { Timeline } from './schedules/timeline.ts'
import { Edges } from './workflows/edges.ts'
import { Endings } from './workflows/endings.ts'
import { Linking } from './workflows/linking.ts'
import { Trees } from './workflows/trees.ts'

/** Where the rules find stored state. Omitted parts start empty, in this process's memory. */
export interface RulesState {
  readonly jobs?: Jobs
  readonly once?: OnceKeys
  readonly edges?: Edges
  readonly trees?: (jobs: Jobs, edges: Edges) => Trees
  readonly limits?: (jobs: Jobs) => Limits
  readonly schedules?: Map<string, StoredSchedule>
  readonly timelines?: Map<string, Timeline>
  readonly newToken?: (id: string) => string
}

/** All rules of a queue. They decide and change state synchronously; where the state is stored is up to the engine. */
export interface Rules {
  readonly jobs: Jobs
  readonly once: OnceKeys
  readonly edges: Edges
  readonly trees: Trees
  readonly limits: Limits
  readonly endings: Endings
  readonly linking: Linking
  readonly leases: Leases
  readonly managing: Managing
  readonly schedules: Schedules
}

export function rulesOver(state: RulesState, clock: Pick<Clock, 'now'>, watchers: Pick<Watchers, 'notify'>): Rules {
  const jobs = state.jobs ?? new Jobs()
  const once = state.once ?? new OnceKeys()
  const edges = state.edges ?? new Edges()
  const trees = state.trees?.(jobs, edges) ?? new Trees(jobs, edges)
  const limits = state.limits?.(jobs) ?? new Limits(jobs)
  const endings = new Endings({ clock, jobs, edges, trees, once, watchers })
  const linking = new Linking({ clock, jobs, trees, endings })
  const leases = new Leases({ jobs, once, limits, endings, newToken: state.newToken })
  const managing = new Managing({ clock, jobs, leases, trees, linking, endings, watchers })
  const { schedules: known, timelines } = state
  const schedules = new Schedules({ clock, jobs, watchers, schedules: known, timelines })
  return { jobs, once, edges, trees, limits, endings, linking, leases, managing, schedules }
}
