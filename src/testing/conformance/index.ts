import { amending } from './amending/amending.ts'
import { amendingInAnyState } from './amending/amending-in-any-state.ts'
import { amendingKeepsTime } from './amending/amending-keeps-time.ts'
import { rejecting } from './amending/rejecting.ts'
import { ageing } from './claiming/ageing.ts'
import { claiming } from './claiming/claiming.ts'
import { closing } from './claiming/closing.ts'
import { heldLeases } from './claiming/held-leases.ts'
import { idling, idlingOfStoredJobs } from './claiming/idling.ts'
import { leases } from './claiming/leases.ts'
import { patterns } from './claiming/patterns.ts'
import { sending } from './claiming/sending.ts'
import { timing } from './claiming/timing.ts'
import { watching, watchingChanges } from './claiming/watching.ts'
import { decidedRules } from './decided-rules.ts'
import { numbers } from './keys/numbers.ts'
import { onceKeys } from './keys/once-keys.ts'
import { uniqueKeys } from './keys/unique-keys.ts'
import { uniqueKeysReplayed, uniqueTimes } from './keys/unique-times.ts'
import { fairShares } from './limits/fair-shares.ts'
import { groupLimits } from './limits/group-limits.ts'
import { limits } from './limits/limits.ts'
import { queueLimits } from './limits/queue-limits.ts'
import { rates } from './limits/rates.ts'
import { cancelling } from './managing/cancelling.ts'
import { events } from './managing/events.ts'
import { holding } from './managing/holds.ts'
import { listing } from './managing/listing.ts'
import { locks } from './managing/locks.ts'
import { logs } from './managing/logs.ts'
import { pausing } from './managing/pausing.ts'
import { pausingJobs } from './managing/pausing-jobs.ts'
import { presence } from './managing/presence.ts'
import { records } from './managing/records.ts'
import { removing } from './managing/removing.ts'
import { rollups } from './managing/rollups.ts'
import { tags } from './managing/tags.ts'
import { randomized } from './randomized.ts'
import { forgetting } from './schedules/forgetting.ts'
import { neighbouring } from './schedules/neighbours.ts'
import { occurrences } from './schedules/occurrences.ts'
import { outcomes } from './schedules/outcomes.ts'
import { scheduleChanges } from './schedules/schedule-changes.ts'
import { schedulePausing } from './schedules/schedule-pausing.ts'
import { schedules } from './schedules/schedules.ts'
import { skipping } from './schedules/skipping.ts'
import { withdrawing } from './schedules/withdrawing.ts'
import { again, againRecorded } from './settling/again.ts'
import { beginning, beginningRecorded } from './settling/beginning.ts'
import { completing } from './settling/completing.ts'
import { replaying } from './settling/replaying.ts'
import { seals, sealsOfKeys } from './settling/seals.ts'
import { settling } from './settling/settling.ts'
import { type ConformanceOptions, type Part, runGroups, type TestRunner } from './suite.ts'
import { transferring, transferringKeys, transferringWorkflows } from './transfer/transferring.ts'
import { transferringSchedules } from './transfer/transferring-schedules.ts'
import { dependencies } from './workflows/dependencies.ts'
import { failurePolicies } from './workflows/failure-policies.ts'
import { longestWaits } from './workflows/longest-waits.ts'
import { parents } from './workflows/parents.ts'
import { parentsOfOthers } from './workflows/parents-of-others.ts'
import { randomWorkflows } from './workflows/random-workflows.ts'
import { trees } from './workflows/trees.ts'

export type { ConformanceOptions, TestRunner } from './suite.ts'

/**
 * Tests a backend against everything the contract promises, with a fresh backend for each test and time moved by hand. `runner`
 * is the test framework's own `describe` and `it`.
 */
export function backendConformance(runner: TestRunner, name: string, options: ConformanceOptions): void {
  runGroups(runner, name, groups, options)
}

const groups = [
  sending,
  timing,
  claiming,
  idling,
  idlingOfStoredJobs,
  patterns,
  limits,
  groupLimits,
  fairShares,
  rates,
  queueLimits,
  ageing,
  settling,
  again,
  leases,
  heldLeases,
  beginning,
  uniqueKeys,
  uniqueTimes,
  watching,
  closing,
  records,
  againRecorded,
  numbers,
  listing,
  cancelling,
  amending,
  amendingInAnyState,
  amendingKeepsTime,
  rejecting,
  replaying,
  uniqueKeysReplayed,
  removing,
  pausing,
  pausingJobs,
  tags,
  logs,
  rollups,
  events,
  holding,
  watchingChanges,
  schedules,
  withdrawing,
  schedulePausing,
  scheduleChanges,
  occurrences,
  neighbouring,
  skipping,
  outcomes,
  forgetting,
  onceKeys,
  beginningRecorded,
  completing,
  locks,
  presence,
  dependencies,
  failurePolicies,
  parents,
  parentsOfOthers,
  trees,
  longestWaits,
  seals,
  sealsOfKeys,
  transferring,
  transferringWorkflows,
  transferringKeys,
  transferringSchedules,
  decidedRules,
  randomWorkflows,
  randomized,
]

export interface ConformanceTitle {
  readonly group: string
  readonly title: string
  /** The optional parts of the contract that the test needs. */
  readonly needs: readonly Part[]
}

/** Every test of the suite, for a table of what each backend supports. */
export const conformanceTitles: readonly ConformanceTitle[] = groups.flatMap(({ title: group, needs, tests }) =>
  Object.keys(tests).map((title) => ({ group, title, needs })),
)
