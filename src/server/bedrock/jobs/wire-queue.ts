import type { ServedQueue } from '../../../app/workers/served-queue.ts'
import { type WireMeta, wireMetaOf, withWireMeta } from '../../../envelope/bedrock-meta.ts'
import { shownText } from '../../../envelope/encryption.ts'
import { type Envelope, identityOf, type Opened, openEnvelope, type Seal, sealOf } from '../../../envelope/envelope.ts'
import { reseal } from '../../../envelope/reseal.ts'
import { scheduledRun } from '../../../execution/admit/occurrence.ts'
import { endedLease, isGenuine, openRecord } from '../../../execution/admit/verifying.ts'
import { type EndingOptions, end } from '../../../execution/end/end.ts'
import type { Outcome } from '../../../execution/end/outcome.ts'
import type { FinalReceipt } from '../../../execution/end/sealing.ts'
import type { Settlement, SettleReceipt } from '../../../queue/contract/contract.ts'
import type { HeldLease, JobRecord } from '../../../queue/contract/store.ts'
import type { Claims } from '../../jobs/claims.ts'
import type { Creating } from '../../jobs/creating.ts'
import type { GroupCommit } from '../../jobs/group-commit.ts'
import type { HeldChildren } from '../../jobs/held-children.ts'
import type { JobNames } from '../../jobs/job-names.ts'
import type { JobNumbers } from '../../jobs/job-numbers.ts'
import type { ServedExecution } from '../../jobs/served-execution.ts'
import { Refusal } from '../wire/refusal.ts'
import { Commits } from './commits.ts'
import { CrashList } from './crash-list.ts'
import { HandedOutJobs } from './handed-out.ts'
import { NameLocks } from './name-locks.ts'
import { QueryLine } from './query-line.ts'
import { type ChildJob, type WireJob, wireJobOf } from './wire-job.ts'

export interface WireQueueDeps {
  readonly queue: ServedQueue
  readonly company: GroupCommit
  readonly creating: Creating
  readonly claims: Claims
  readonly names: JobNames
  readonly numbers: JobNumbers
  readonly heldChildren: HeldChildren
  readonly execution: ServedExecution
  /** Who claims, for people. */
  readonly owner: string
  /** How long a client may take for a job that has no `retryAfter`. */
  readonly leaseMs: number
}

/** What is to be different about a job. */
export interface JobChanges {
  readonly job?: string
  readonly data?: string
  readonly repeat?: string | null
  readonly priority?: number
  readonly runAt?: number
  readonly meta?: Partial<WireMeta>
}

/** How the owners of leases that servers have given to clients are called: any of them may renew one for its client. */
export const serverOwner = 'server '

/** So often somebody else may write a job's data in between. */
const mostRounds = 10
const noSuchJob = 'No job with this jobID'

/** The queue as the protocol sees it: jobs by number, changed as a whole. */
export class WireQueue {
  readonly deps: WireQueueDeps
  readonly handedOut: HandedOutJobs
  /** Jobs that are to be there once are made one after the other. */
  readonly uniques = new NameLocks()
  readonly queries = new QueryLine()
  /** Commands that change one job, by its number, take turns: none writes over what another one of this server has written since it read. */
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
   * To be written to. Its number must be signed: otherwise whoever can write to the database chooses which job is meant. One that was
   * sent without a number gets a signed one when it is handed out.
   */
  async findToChange(number: number): Promise<WireJob> {
    const job = await this.find(number)
    if (!this.isNumberOfAnother(job.record)) return job
    throw new Refusal(405, 'The number of this job is not signed: it can be changed once it has been handed out')
  }

  /** Whether a genuine job has a number that nobody has signed. What is not genuine is refused by whoever verifies it. */
  isNumberOfAnother(record: JobRecord): boolean {
    const { keys } = this.deps.queue
    if (keys === null || record.signature === null) return false
    try {
      return !openEnvelope(record, keys).isNumberSigned
    } catch {
      return false
    }
  }

  /** Null where the protocol knows no such job. */
  async look(number: number): Promise<WireJob | null> {
    const id = await this.deps.numbers.idOf(number)
    return id === null ? null : this.byId(id)
  }

  async byId(id: string): Promise<WireJob | null> {
    const record = await this.deps.queue.backend.store.get(id)
    return record === null ? null : wireJobOf(record)
  }

  /** What was made for a job and is still there. */
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

  /** Whether a job is what was signed: only then what it says is told to those who work. */
  isGenuine(record: JobRecord): boolean {
    return isGenuine(record, this.deps.execution)
  }

  /** Refuses what is to be done to a job that is not what was signed, and ends it. */
  verified(record: JobRecord): Promise<Opened> {
    return openRecord(record, this.deps.execution, (why) => new Refusal(405, `The job is rejected: ${why}`))
  }

  /** The same as an answer: false for one that was ended, or had ended, because it is not what was signed. */
  async isStanding(record: JobRecord): Promise<boolean> {
    try {
      await this.verified(record)
      return true
    } catch (thrown) {
      if (thrown instanceof Refusal) return false
      throw thrown
    }
  }

  /** The envelope of a job as it is from now on. */
  async sealed(record: JobRecord, changes: JobChanges): Promise<Envelope> {
    const opened = await this.verified(record)
    const before = opened.identity
    const { job = before.job, priority = before.priority, repeat = before.repeat } = changes
    const { runAt = record.runAt } = changes
    // What a client was shown of an encrypted job is not what it says.
    const data = changes.data === undefined || changes.data === shownText(opened.text) ? opened.text : changes.data
    const meta = withWireMeta(before.meta, { ...wireMetaOf(before.meta), ...changes.meta })
    const name = before.name === before.job ? job : before.name
    const identity = { job, name, priority, repeat, meta }
    return reseal(opened, record, { identity, payload: data, runAt }, this.deps.queue.keys)
  }

  /** In whatever state it is. Without another time, it keeps the one that it has by then. */
  async amend(job: WireJob, changes: JobChanges): Promise<void> {
    await this.#write(job, changes, null)
  }

  /** The same with what follows from the job as it is: worked out anew where somebody else has written its data meanwhile. */
  async change(found: WireJob, changesOf: (job: WireJob) => JobChanges): Promise<void> {
    let job = found
    for (let round = 1; round < mostRounds; round++) {
      if (await this.#write(job, changesOf(job), sealOf(job.record))) return
      const fresh = await this.byId(job.record.id)
      if (fresh === null) throw new Refusal(404, noSuchJob)
      job = fresh
    }
    // Whoever is always later than the others has the last word.
    await this.amend(job, changesOf(job))
  }

  async #write({ record }: WireJob, changes: JobChanges, expected: Seal | null): Promise<boolean> {
    // What was known of it when it was handed out is no longer true.
    const held = record.number === null ? undefined : this.handedOut.get(record.number)
    if (held !== undefined) held.isPlain = false
    const envelope = await this.sealed(record, changes)
    const keeps = changes.runAt === undefined ? ({ keepsTime: true } as const) : {}
    const amendment = { id: record.id, expected, envelope, inAnyState: true, ...keeps } as const
    const [answer] = await this.deps.queue.backend.store.amend([amendment])
    if (answer === 'missing') throw new Refusal(404, noSuchJob)
    return answer === 'amended'
  }

  /** The lease under which a job runs now, whoever has it; null where it does not run any more. */
  async leaseOf({ record }: WireJob): Promise<HeldLease | null> {
    const [held] = await this.deps.queue.backend.store.leasesOf([record.id])
    return held ?? null
  }

  /** Ends a job that runs under this lease, by the rules of every worker. */
  end({ record }: WireJob, lease: HeldLease, outcome: Outcome, options?: EndingOptions): Promise<FinalReceipt> {
    const { execution } = this.deps
    const { recurrence } = identityOf(record.id, record.identity) ?? {}
    const scheduled = scheduledRun({ ...record, ...(recurrence && { recurrence }) }, record.createdAt, execution)
    return end(endedLease(lease, record), outcome, execution, scheduled, options)
  }

  settle(settlement: Settlement): Promise<SettleReceipt> {
    return this.deps.execution.settle(settlement)
  }

  /** Takes jobs that have ended, or wait, out of the queue for good. */
  async erase(jobs: readonly WireJob[]): Promise<void> {
    const { store } = this.deps.queue.backend
    for (const { record } of jobs) {
      if (record.state === 'ready' || record.state === 'scheduled') await store.cancel(record.id)
    }
    const ids = jobs.map(({ record }) => record.id)
    for (const state of ['succeeded', 'cancelled', 'skipped', 'dead'] as const) {
      if (ids.length > 0) await store.remove({ state, ids, limit: ids.length })
    }
  }
}
