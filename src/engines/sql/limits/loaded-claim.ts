import type { Envelope } from '../../../envelope/envelope.ts'
import type { LeaseRequest } from '../../../queue/contract/contract.ts'
import { type Rules, rulesOver } from '../../../queue/rules/assembly.ts'
import { newJob, type StoredJob } from '../../../queue/rules/jobs/job.ts'
import { Jobs } from '../../../queue/rules/jobs/jobs.ts'
import { type ClaimState, Limits } from '../../../queue/rules/limits/limits.ts'
import { type Counted, Rates } from '../../../queue/rules/limits/rates.ts'
import { type HeldGroup, LoadedGroups } from '../../../queue/units/loaded-groups.ts'
import type { ReadyJob } from '../dialect.ts'
import type { Lane } from '../lanes/lanes.ts'
import type { RankedLane } from '../lanes/ranked-lanes.ts'
import type { GroupRow } from './groups.ts'
import type { Running } from './running.ts'

/** A group that may be next, with its first jobs. */
export interface CandidateGroup extends GroupRow {
  readonly of: Lane
  readonly jobs: readonly ReadyJob[]
  /** Whether as many jobs were read as were asked for. */
  readonly mayHaveMore: boolean
}

/** A job that the rules have chosen. */
export interface Picked {
  readonly id: string
  readonly group: CandidateGroup | null
}

export interface LoadedClaimParts {
  readonly request: LeaseRequest
  readonly open: readonly RankedLane[]
  readonly running: Running
  readonly rates: ReadonlyMap<string, Counted>
  readonly now: number
}

/** The part of the queue that a claim below limits has read, in the form that the rules use. Writes nothing. */
export class LoadedClaim {
  readonly #parts: LoadedClaimParts
  readonly #rules: Rules
  readonly #groups = new LoadedGroups()
  readonly #claim: ClaimState
  readonly #groupOf = new Map<string, CandidateGroup>()

  constructor(parts: LoadedClaimParts) {
    this.#parts = parts
    const { request, open, running, rates, now } = parts
    const jobs = new Jobs({ groups: this.#groups, running: running.ofJobs, runningIn: running.inQueues })
    const limits = () => new Limits(jobs, new Rates(new Map(rates)))
    this.#rules = rulesOver({ jobs, limits, newToken: (id) => id }, { now: () => now }, { notify: () => {} })
    this.#claim = this.#rules.limits.begin(request, noPauses, now)
    // Lanes without room are not read, but may hold jobs that must run alone.
    for (const { of } of open) if (of.single === 1) this.#claim.alone.set(of.job, true)
  }

  hasRoom({ of }: RankedLane): boolean {
    return this.#rules.limits.hasRoom(of, this.#claim)
  }

  addPlain(lane: Lane, jobs: readonly ReadyJob[]): void {
    for (const job of jobs) this.#rules.jobs.adopt(candidate(job, lane, null))
  }

  /** The rules learn the turns of groups from the order in which they are added. Equal turns go by their first jobs. */
  addGroups(groups: readonly CandidateGroup[]): void {
    for (const group of groups.toSorted(isNext)) {
      const { of, grp, jobs } = group
      this.#groups.adopt(of.job, grp, this.#parts.running.inGroup(of.job, grp))
      for (const job of jobs) {
        this.#groupOf.set(job.id, group)
        this.#rules.jobs.adopt(candidate(job, of, grp))
      }
    }
  }

  pick(): readonly Picked[] {
    const leases = this.#rules.leases.claim(this.#parts.request, this.#claim)
    return leases.map(({ envelope: { id } }) => ({ id, group: this.#groupOf.get(id) ?? null }))
  }

  /** Groups that are out of tokens. */
  get held(): readonly HeldGroup[] {
    return this.#groups.held
  }

  /** When a rate that held something back allows the next claim. */
  get nextTokenAt(): number | null {
    return this.#claim.nextTokenAt
  }

  /** What rates have let through once these jobs have started, as far as it has changed. */
  ratesAfter(claimed: readonly string[], now: number): ReadonlyMap<string, Counted> {
    const { jobs } = this.#rules
    const before = this.#parts.rates
    const counted = new Map(before)
    const limits = new Limits(jobs, new Rates(counted))
    for (const id of claimed) limits.take(jobs.get(id) as StoredJob, { ...this.#claim, now })
    return new Map([...counted].filter(([scope, each]) => each !== before.get(scope)))
  }
}

/** Lanes that are paused are not open. */
const noPauses: ReadonlySet<string> = new Set()

/** What a claim looks at: its body is read when it has been chosen. Written out, because there may be thousands of them. */
function candidate({ id, run_at }: ReadyJob, { queue, job, priority, single }: Lane, group: string | null): StoredJob {
  const envelope: Envelope = {
    id,
    number: null,
    job,
    queue,
    priority,
    singleInstance: single === 1,
    identity: '',
    payload: '',
    signature: null,
    createdAt: run_at,
    runAt: run_at,
    uniqueKey: null,
    uniqueUntil: 'ended',
    group,
    links: null,
  }
  return newJob(envelope, null, null)
}

function isNext(a: CandidateGroup, b: CandidateGroup): number {
  if (a.turn !== b.turn) return a.turn - b.turn
  const [one, other] = [a.jobs[0], b.jobs[0]]
  if (one === undefined || other === undefined) return 0
  return one.run_at - other.run_at || (one.id < other.id ? -1 : 1)
}
