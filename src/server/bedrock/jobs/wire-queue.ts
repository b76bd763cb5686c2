import type { ServedQueue } from '../../../app/workers/served-queue.ts'
import { type WireMeta, wireMetaOf, withWireMeta } from '../../../envelope/bedrock-meta.ts'
import { shownText } from '../../../envelope/encryption.ts'
import { type Envelope, identityOf, type Opened, openEnvelope, type Seal, sealOf } from '../../../envelope/envelope.ts'
import { reseal } from '../../../envelope/reseal.ts'
import { scheduledRun } from '../../../execution/admit/occurrence.ts'
import { endedLease, isGenuine, openRecord } from '../../../execution/admit/verifying.ts'
import { cancelJob } from '../../../execution/end/cancelling.ts'
import { type EndingOptions, end } from '../../../execution/end/end.ts'
import type { Outcome } from '../../../execution/end/outcome.ts'
import type { FinalReceipt } from '../../../execution/end/sealing.ts'
import type { Settlement, SettleReceipt } from '../../../queue/contract/contract.ts'
import type { HeldLease, JobRecord } from '../../../queue/contract/store.ts'
import type { Claims } from '../../jobs/claiming/claims.ts'
import type { Creating } from '../../jobs/creating.ts'
import type { GroupCommit } from '../../jobs/group-commit.ts'
import type { HeldChildren } from '../../jobs/held-children.ts'
import type { JobNames } from '../../jobs/job-names.ts'
import type { JobNumbers } from '../../jobs/job-numbers.ts'
import type { ServedExecution } from '../../jobs/served-execution.ts'
import { Refusal } from '../wire/refusal.ts'
import { Commits } from './commits.ts'
import { CrashList } from './crash-list.ts'
import { type ChildJob, type WireJob, wireJobOf } from './format/wire-job.ts'
import { HandedOutJobs } from './handed-out.ts'
import { NameLocks } from './name-locks.ts'
import { QueryLine } from './query-line.ts'

export interface WireQueueDeps {
  readonly queue: ServedQueue
  readonly groupCommit: GroupCommit
  readonly creating: Creating
  readonly claims: Claims
  readonly names: JobNames
  readonly numbers: JobNumbers
  readonly heldChildren: HeldChildren
  readonly execution: ServedExecution
  /** Name of the owner of the leases, for display. */
  readonly owner: string
  /** How long a client may take for a job that has no `retryAfter`. */
  readonly leaseMs: number
}

/** Changes to make to a job. */
export interface JobChanges {
  readonly job?: string
  readonly data?: string
  readonly repeat?: string | null
  readonly priority?: number
  readonly runAt?: number
  readonly meta?: Partial<WireMeta>
  /** It is being handed out, and its client will refer to it by its number. */
  readonly signsNumber?: true
  /** It no longer waits for its children. */
  readonly unblocks?: true
}

/** Prefix for the owner of leases that servers hold for clients. Any server may renew such a lease for its client. */
export const serverOwner = 'server '

/** Maximum number of attempts to change a job whose data is written concurrently. */
const mostRounds = 10
const noSuchJob = 'No job with this jobID'

/** The queue as the protocol sees it: jobs are identified by number and changed as a whole. */
export class WireQueue {
  readonly deps: WireQueueDeps
  readonly handedOut: HandedOutJobs
  /** Serializes the creation of unique jobs, by name. */
  readonly uniques = new NameLocks()
  readonly queries = new QueryLine()
  /**
   * Serializes commands that change the same job, by its number, so that none overwrites what another command of this server has
   * written since it read the job.
   */
  readonly turns = new NameLocks()
  readonly crashing = new CrashList()
  readonly commits: Commits

  constructor(deps: WireQueueDeps) {
    const { clock } = deps.queue.settings
    this.deps = deps
    this.commits = new Commits(clock)
    this.handedOut = new HandedOutJobs(clock)
  }

  get now(): number {
    return this.deps.queue.settings.clock.now()
  }

  async find(number: number): Promise<WireJob> {
    const job = await this.look(number)
    if (job === null) throw new Refusal(404, noSuchJob)
    return job
  }

  /**
   * Finds a job in order to change it. Its number must be signed: otherwise anyone with write access to the database could choose
   * which job is meant. A job that was sent without a number gets a signed one when it is handed out.
   */
  async findToChange(number: number): Promise<WireJob> {
    const job = await this.find(number)
    if (!this.isNumberOfAnother(job.record)) return job
    throw new Refusal(405, 'The number of this job is not signed: it can be changed once it has been handed out')
  }

  /** Whether a genuine job has an unsigned number. A job that is not genuine is refused wherever it is verified. */
  isNumberOfAnother(record: JobRecord): boolean {
    const { keys } = this.deps.queue
    if (keys === null || record.signature === null) return false
    try {
      return !openEnvelope(record, keys).isNumberSigned
    } catch {
      return false
    }
  }

  /** Null if the job does not exist in the protocol. */
  async look(number: number): Promise<WireJob | null> {
    const id = await this.deps.numbers.idOf(number)
    return id === null ? null : this.byId(id)
  }

  async byId(id: string): Promise<WireJob | null> {
    const record = await this.deps.queue.backend.store.get(id)
    return record === null ? null : wireJobOf(record)
  }

  /** The children of a job that still exist. */
  async children(id: string): Promise<readonly ChildJob[]> {
    const links = await this.deps.queue.backend.store.links(id)
    const children = links.filter(({ kind }) => kind === 'child')
    const found = await Promise.all(
      children.map(async ({ id: childId, key }) => {
        const child = await this.byId(childId)
        return child && { ...child, key }
      }),
    )
    return found.filter((child) => child !== null)
  }

  /** Whether a job matches its signature. Only then may workers see its contents. */
  isGenuine(record: JobRecord): boolean {
    return isGenuine(record, this.deps.execution)
  }

  /** Refuses the operation and ends the job if it does not match its signature. */
  verified(record: JobRecord): Promise<Opened> {
    return openRecord(record, this.deps.execution, (why) => new Refusal(405, `The job is rejected: ${why}`))
  }

  /** Whether the job passes `verified`. False if it does not match its signature and was ended, now or earlier. */
  async isStanding(record: JobRecord): Promise<boolean> {
    try {
      await this.verified(record)
      return true
    } catch (thrown) {
      if (thrown instanceof Refusal) return false
      throw thrown
    }
  }

  /** The envelope of a job with these changes. */
  async sealed(record: JobRecord, changes: JobChanges): Promise<Envelope> {
    const opened = await this.verified(record)
    const before = opened.identity
    const { job = before.job, priority = before.priority, repeat = before.repeat } = changes
    const { runAt = record.runAt, signsNumber } = changes
    // A client only sees a placeholder for encrypted data. If it sends that back, keep the real data.
    const data = changes.data === undefined || changes.data === shownText(opened.text) ? opened.text : changes.data
    const meta = withWireMeta(before.meta, { ...wireMetaOf(before.meta), ...changes.meta })
    const name = before.name === before.job ? job : before.name
    const identity = { job, name, priority, repeat, meta }
    return reseal(opened, record, { identity, payload: data, runAt, ...(signsNumber && { signsNumber }) }, this.deps.queue.keys)
  }

  /** Changes a job in any state. Without a new time, the job keeps its current one. */
  async amend(job: WireJob, changes: JobChanges): Promise<void> {
    await this.#write(job, changes, null)
  }

  /** Like `amend`, with changes that depend on the current job. They are computed again if its data was written concurrently. */
  async change(found: WireJob, changesOf: (job: WireJob) => JobChanges): Promise<void> {
    let job = found
    for (let round = 1; round < mostRounds; round++) {
      if (await this.#write(job, changesOf(job), sealOf(job.record))) return
      const fresh = await this.byId(job.record.id)
      if (fresh === null) throw new Refusal(404, noSuchJob)
      job = fresh
    }
    // After too many conflicts, write unconditionally.
    await this.amend(job, changesOf(job))
  }

  async #write({ record }: WireJob, changes: JobChanges, expected: Seal | null): Promise<boolean> {
    // The change may invalidate what was known when the job was handed out.
    const held = record.number === null ? undefined : this.handedOut.get(record.number)
    if (held !== undefined) held.isPlain = false
    const envelope = await this.sealed(record, changes)
    const keeps = changes.runAt === undefined ? ({ keepsTime: true } as const) : {}
    const unblocks = changes.unblocks === true ? ({ unblocks: true } as const) : {}
    const amendment = { id: record.id, expected, envelope, inAnyState: true, ...keeps, ...unblocks } as const
    const [answer] = await this.deps.queue.backend.store.amend([amendment])
    if (answer === 'missing') throw new Refusal(404, noSuchJob)
    return answer === 'amended'
  }

  /** The lease under which a job is running, whoever holds it; null if the job is not running any more. */
  async leaseOf({ record }: WireJob): Promise<HeldLease | null> {
    const [held] = await this.deps.queue.backend.store.leases({ ids: [record.id] })
    return held ?? null
  }

  /** Ends a job that runs under this lease, by the same rules as every worker. */
  end({ record }: WireJob, lease: HeldLease, outcome: Outcome, options?: EndingOptions): Promise<FinalReceipt> {
    const { execution } = this.deps
    const { recurrence } = identityOf(record.id, record.identity) ?? {}
    const scheduled = scheduledRun({ ...record, ...(recurrence && { recurrence }) }, record.createdAt, execution)
    return end(endedLease(lease, record), outcome, execution, scheduled, options)
  }

  /** Ends a job that waits. */
  async cancel({ record }: Pick<WireJob, 'record'>): Promise<void> {
    const { queue } = this.deps
    await cancelJob(record.id, { ...queue, store: queue.backend.store })
  }

  settle(settlement: Settlement): Promise<SettleReceipt> {
    return this.deps.execution.settle(settlement)
  }

  /** Permanently removes jobs that have ended or are waiting. */
  async erase(jobs: readonly WireJob[]): Promise<void> {
    const { store } = this.deps.queue.backend
    for (const { record } of jobs) {
      if (record.state === 'ready' || record.state === 'scheduled') await this.cancel({ record })
    }
    const ids = jobs.map(({ record }) => record.id)
    for (const state of ['succeeded', 'cancelled', 'skipped', 'dead'] as const) {
      if (ids.length > 0) await store.remove({ state, ids, limit: ids.length })
    }
  }
}
