import { again, againRecorded } from './again.ts'
import { ageing } from './ageing.ts'
import { amending } from './amending.ts'
import { amendingInAnyState } from './amending-in-any-state.ts'
import { amendingKeepsTime } from './amending-keeps-time.ts'
import { beginning, beginningRecorded } from './beginning.ts'
import { cancelling } from './cancelling.ts'
import { claiming } from './claiming.ts'
import { closing } from './closing.ts'
import { completing } from './completing.ts'
import { dependencies } from './dependencies.ts'
import { failurePolicies } from './failure-policies.ts'
import { fairShares } from './fair-shares.ts'
import { forgetting } from './forgetting.ts'
import { groupLimits } from './group-limits.ts'
import { heldLeases } from './held-leases.ts'
import { holding } from './holds.ts'
import { idling, idlingOfStoredJobs } from './idling.ts'
import { leases } from './leases.ts'
import { limits } from './limits.ts'
import { listing } from './listing.ts'
import { locks } from './locks.ts'
import { longestWaits } from './longest-waits.ts'
import { neighbouring } from './neighbours.ts'
import { numbers } from './numbers.ts'
import { occurrences } from './occurrences.ts'
import { onceKeys } from './once-keys.ts'
import { outcomes } from './outcomes.ts'
import { parents } from './parents.ts'
import { parentsOfOthers } from './parents-of-others.ts'
import { pausing } from './pausing.ts'
import { presence } from './presence.ts'
import { queueLimits } from './queue-limits.ts'
import { randomWorkflows } from './random-workflows.ts'
import { randomized } from './randomized.ts'
import { rates } from './rates.ts'
import { records } from './records.ts'
import { rejecting } from './rejecting.ts'
import { removing } from './removing.ts'
import { replaying } from './replaying.ts'
import { schedulePausing } from './schedule-pausing.ts'
import { schedules } from './schedules.ts'
import { seals, sealsOfKeys } from './seals.ts'
import { sending } from './sending.ts'
import { settling } from './settling.ts'
import { skipping } from './skipping.ts'
import { type ConformanceOptions, type Part, runGroups, type TestRunner } from './suite.ts'
import { timing } from './timing.ts'
import { trees } from './trees.ts'
import { uniqueKeys } from './unique-keys.ts'
import { uniqueKeysReplayed, uniqueTimes } from './unique-times.ts'
import { watching, watchingChanges } from './watching.ts'
import { withdrawing } from './withdrawing.ts'

export type { ConformanceOptions, TestRunner } from './suite.ts'

/**
 * Checks a backend against everything that the contract promises: one fresh backend for each test, time moved by hand.
 * `runner` is the test framework's own `describe` and `it`.
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
  holding,
  watchingChanges,
  schedules,
  withdrawing,
  schedulePausing,
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
  randomWorkflows,
  randomized,
]

export interface ConformanceTitle {
  readonly group: string
  readonly title: string
  /** The optional parts of the contract that it needs. */
  readonly needs: readonly Part[]
}

/** Every test of the suite, for a table of what each backend can do. */
export const conformanceTitles: readonly ConformanceTitle[] = groups.flatMap(({ title: group, needs, tests }) =>
  Object.keys(tests).map((title) => ({ group, title, needs })),
)
