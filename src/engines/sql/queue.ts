import { type Steps, wait } from '../../core/answer.ts'
import type { Coordination, LeaseRequest, PatternClaims, QueueBackend } from '../../queue/contract/contract.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import type { Transfer } from '../../queue/contract/transfer.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { type Claimed, Claiming, type OpenLanes } from './claiming/claiming.ts'
import { Promoting } from './claiming/promoting.ts'
import { Rescuing } from './claiming/rescuing.ts'
import { UniqueKeys } from './keys/unique-keys.ts'
import type { Counts } from './lanes/counts.ts'
import { Lanes } from './lanes/lanes.ts'
import type { Outlook } from './lanes/outlook.ts'
import { readyOf } from './lanes/ready-jobs.ts'
import { Groups } from './limits/groups.ts'
import { sqlCoordination } from './managing/coordination.ts'
import { sqlStore } from './managing/store.ts'
import { type QueueParts, queueParts, type SharedParts } from './queue-parts.ts'
import type { SqlDatabase } from './session.ts'
import { touchLeases } from './settling/settling.ts'
import type { Shortcuts } from './shortcuts.ts'
import type { Stepped } from './stepped.ts'
import { sqlTransfer } from './transfer/transfer.ts'
import { Mending } from './workflows/mending.ts'
import { Trees } from './workflows/trees.ts'
import { WaitTimeouts } from './workflows/wait-timeouts.ts'

export interface SqlQueueOptions {
  readonly database: SqlDatabase
  readonly shortcuts: Shortcuts
  readonly counts: Counts
  readonly time: QueueTime
  /** Call this after something may have become ready. */
  readonly wake: () => void
}

/** The rules of the queue on a database, written as steps, so that they run with both synchronous and asynchronous answers. */
export interface SqlQueue extends Pick<QueueParts, 'sending' | 'settling'> {
  readonly shared: SharedParts
  readonly leases: Stepped<Pick<QueueBackend, 'settle' | 'begin' | 'extend' | 'reap'>>
  readonly store: Stepped<JobStore>
  readonly coordination: Stepped<Coordination>
  readonly transfer: Stepped<Transfer>
  readonly patterns: Stepped<PatternClaims>
  claim(request: LeaseRequest, claim: string): Steps<Claimed>
  /** The lanes that a claim may take jobs from, for engines that claim with their own statements. */
  open(request: LeaseRequest, outlook: Outlook): Steps<OpenLanes>
  /** Call this when something may have become ready. */
  woken(): void
}

export function sqlQueue({ database, shortcuts, counts, time, wake }: SqlQueueOptions): SqlQueue {
  const lanes = new Lanes(database, time)
  const groups = new Groups()
  const uniqueKeys = new UniqueKeys()
  const shared = { lanes, counts, uniqueKeys, shortcuts }
  const { units, sending, settling } = queueParts(database, groups, shared)
  const promoting = new Promoting({ database, lanes, counts, groups })
  const rescuing = new Rescuing(database, units)
  const impatience = new WaitTimeouts(database, units)
  const giveUp = (at: QueueTime) => impatience.giveUp(at)
  const claiming = new Claiming({ database, shortcuts, lanes, counts, groups, promoting, rescuing, giveUp })
  const trees = new Trees(database, units)
  const mending = new Mending(database, units)
  const ground = { database, units, lanes, counts, uniqueKeys, time }
  return {
    shared,
    sending,
    settling,
    store: sqlStore({ ...ground, trees, mending, wake }),
    coordination: sqlCoordination(ground),
    transfer: sqlTransfer({ database, units, lanes, time, wake }),
    patterns: { readyOf: (jobs) => readyOf(database, jobs) },
    claim: (request, claim) => claiming.lease(request, claim, time),
    open: (request, outlook) => claiming.open(request, outlook),
    woken: () => claiming.woken(),
    leases: {
      *settle(settlements) {
        const { receipts, released } = yield* settling.settle(settlements, time)
        if (released) wake()
        return receipts
      },
      begin: (tokens) => wait(database.transaction((session) => touchLeases(session, tokens, () => ({ begun: 1 })))),
      extend(tokens, leaseMs, alone) {
        const renewed = () => ({ lease_until: time.now() + leaseMs })
        return wait(database.transaction((session) => touchLeases(session, tokens, renewed, alone)))
      },
      *reap(maxRescues, deadOwners = []) {
        const report = yield* rescuing.reap(maxRescues, deadOwners, time)
        if (report.returned > 0) wake()
        return report
      },
    },
  }
}
