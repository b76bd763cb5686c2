import { type Steps, wait } from '../../core/answer.ts'
import type { Coordination, LeaseRequest, PatternClaims, QueueBackend } from '../../queue/contract/contract.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import type { Transfer } from '../../queue/contract/transfer.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { type Claimed, Claiming, type OpenLanes } from './claiming/claiming.ts'
import { Promoting } from './claiming/promoting.ts'
import { Rescuing } from './claiming/rescuing.ts'
import { isReadyIn } from './dialect.ts'
import { Once } from './keys/once.ts'
import { UniqueKeys } from './keys/unique-keys.ts'
import type { Counts } from './lanes/counts.ts'
import { mayBeStored } from './lanes/lane-numbers.ts'
import { Lanes } from './lanes/lanes.ts'
import type { Outlook } from './lanes/outlook.ts'
import { Groups } from './limits/groups.ts'
import { type QueueParts, queueParts, type SharedParts } from './queue-parts.ts'
import type { SqlDatabase } from './session.ts'
import { beginLeases, extendLeases } from './settling.ts'
import type { Shortcuts } from './shortcuts.ts'
import type { Stepped } from './stepped.ts'
import { Locks } from './store/locks.ts'
import { sqlStore } from './store/store.ts'
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
  const waitTimeouts = new WaitTimeouts(database, units)
  const giveUp = (at: QueueTime) => waitTimeouts.giveUp(at)
  const claiming = new Claiming({ database, shortcuts, lanes, counts, groups, promoting, rescuing, giveUp })
  const trees = new Trees(database, units)
  const mending = new Mending(database, units)
  const shares = { database, units, lanes, counts, uniqueKeys, time }
  return {
    shared,
    sending,
    settling,
    store: sqlStore({ ...shares, trees, mending, wake }),
    coordination: sqlCoordination(shares),
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
      begin: (tokens) => wait(database.transaction((session) => beginLeases(session, tokens))),
      extend(tokens, leaseMs, alone) {
        const until = () => time.now() + leaseMs
        return wait(database.transaction((session) => extendLeases(session, tokens, until, { alone })))
      },
      *reap(maxRescues, deadOwners = []) {
        const report = yield* rescuing.reap(maxRescues, deadOwners, time)
        if (report.returned > 0) wake()
        return report
      },
    },
  }
}

const jobsPerStatement = 1_000

/** Those of these job names that have ready jobs. */
function* readyOf(database: SqlDatabase, jobs: readonly string[]): Steps<readonly string[]> {
  const names = jobs.filter(mayBeStored)
  const isOpen = `${isReadyIn(database.dialect, '{lanes}.lane')} = 1`
  const found: string[] = []
  for (let from = 0; from < names.length; from += jobsPerStatement) {
    const some = names.slice(from, from + jobsPerStatement)
    const question = `SELECT DISTINCT job FROM {lanes} WHERE job IN (?) AND ${isOpen}`
    for (const { job } of yield* wait(database.all<{ job: string }>(question, [some]))) found.push(job)
  }
  return found
}

/** What workers share. */
function sqlCoordination({ database, time }: Pick<SqlQueueOptions, 'database' | 'time'>): Stepped<Coordination> {
  const once = new Once(database)
  const locks = new Locks(database)
  return {
    claimOnce: (key, jobId) => once.claim(key, jobId, time),
    lock: (name, holder, ttlMs) => locks.lock(name, holder, ttlMs, time),
    unlock: (name, owner) => locks.unlock(name, owner, time.now()),
  }
}
